"""Terms of propositional logic, finite-domain choices, and the solvers that answer about them."""
