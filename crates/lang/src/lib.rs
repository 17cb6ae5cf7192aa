//! What a program is, and every language that a program can be written in
