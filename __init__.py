"""evidencegym: multi-hop retrieval control as a Gymnasium environment.

Import the part you need: ``evidencegym.envs`` registers the environments, ``evidencegym.data`` reads questions,
``evidencegym.training`` and ``evidencegym.eval`` train and compare controllers.
"""

__version__ = "0.1.0"
