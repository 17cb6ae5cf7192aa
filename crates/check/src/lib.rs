//! The criteria: safe, drf, trf, robust, persistent
