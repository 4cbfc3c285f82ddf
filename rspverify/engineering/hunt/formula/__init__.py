"""A hunt by formula: one question for all programs of a sketch, the program itself unknown.

A sketch is a test with holes (sketch.py): it says how long each thread is, its work-group, and
which locations are atomic. All its programs are one template (choices.py, template.py), which the
machine and the model are built over. What is found to race is learnt, until a program breaks the
scheme or there is none (ask.py). by_formula.py hunts in this way; docs/proofs.md argues why nothing
is lost.
"""
