"""Moving in and out: other programs' memories and chats become this one's, and this one's become files for others.

Reading a source (`formats/`), telling what is new about it (`comparing`), and writing it are apart: what is shown
before anything is written is what is written then.
"""
