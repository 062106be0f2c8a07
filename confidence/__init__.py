"""How far evidence can be trusted: evaluators and their verdicts, refinement into strips, conformal confidence."""
