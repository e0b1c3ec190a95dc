"""Chapter 01: from text to ids and back, with WordPiece."""
