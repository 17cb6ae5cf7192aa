//! The language server: what editors show about programs.
//!
//! [`serve`] speaks the protocol over a [`Connection`]. While a text is edited it is only read ([`document`]); once it is saved it is asked about in the background
//! ([`verdict`]), with limits. [`words`] is what is said about a word, [`actions`] what can be changed.
//!
//! Beyond the protocol there is `palisade/run`: `{"uri"}` is answered by `{"verdict", "headline", "text", "svg"?, "html"?}`, where `html` is a page with the run to step
//! through.

mod actions;
mod document;
mod server;
mod settings;
mod verdict;
mod words;

pub use lsp_server::Connection;
pub use server::serve;
pub use settings::Settings;
