"""What `import rspverify` gives, and what all commands are written on: questions, asked lazily."""
