"""Measures rspverify: `make bench`. Ratios are taken in one run; milliseconds do not travel."""
