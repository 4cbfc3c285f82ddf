"""The page that `rspverify serve` opens: questions come in, answers go out while one types."""
