"""What a language model is asked, one text file a task, and how its reply is read; no client is imported here.

Each of ``answer``, ``judge``, ``rewrite`` and ``compress`` has ``render(task)``, the chat messages;
``parse(text, task)``, the result or a ``ParseError``; ``completion_tokens(task)``, the room that a reply needs; and
``schema(task)``, its JSON schema for servers that can be held to one.
"""
