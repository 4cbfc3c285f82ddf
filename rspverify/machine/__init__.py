"""The machine of Fig. 3 with its rules from Tab. 1 and Tab. 2, and the engines that run it."""
