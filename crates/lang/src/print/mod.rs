//! Printing a program in another language, or its own.
