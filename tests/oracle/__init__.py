"""Independent reference implementations, slow and plain, to test the verifier against.

* ``machine``: exhaustive search of the machine (Fig. 3, Tab. 1, Tab. 2 of the RSP paper);
* ``model``: brute force of the axiomatic language model (Fig. 2, with the RSP ``incl`` of its §3);
* ``schemes``: both compilation schemes of Tab. 3;
* ``schedulers``: whether a program with loops hangs, by every interleaving of its source; and
  ``concurrent``, which draws such programs.

They share no code with the verifier and, apart from ``schemes`` producing programs for
``machine``, none with each other.
"""
