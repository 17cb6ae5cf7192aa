//! What people read: text, pictures, HTML, JSON, SARIF
