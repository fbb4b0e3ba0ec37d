//! A checked profile.

use crate::settings::{Problem, ProfileError, Settings};
use crate::{HeaderKey, Junk, Kind, Padding, Shape, Template, TypeRange};

/// How one device speaks: settings that passed every check, ready for use.
#[derive(Debug)]
pub struct Profile {
    settings: Settings,
    signatures: Vec<Template>,
}

/// Whether handshake messages end in random bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trailers {
    /// Their lengths are fixed.
    #[default]
    Off,
    /// They are at least as long as their kind; transport messages are padded up to the window.
    On,
}

/// Whether a responder under load asks for proof of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cookies {
    /// It answers with a cookie.
    #[default]
    Given,
    /// It only counts messages per address (TMR-14).
    Disabled,
}

impl Profile {
    /// Checks settings as a whole (CFG-01).
    ///
    /// # Errors
    /// The first key that is wrong and why.
    pub fn new(settings: Settings) -> Result<Self, ProfileError> {
        settings.check()?;
        let mut signatures = Vec::new();
        for (key, text) in SIGNATURE_KEYS.into_iter().zip(&settings.signatures) {
            let problem = |errors| ProfileError {
                key,
                problem: Problem::Tags(errors),
            };
            signatures.push(Template::parse(text).map_err(problem)?);
        }
        signatures.retain(|signature| !signature.is_empty());
        Ok(Profile {
            settings,
            signatures,
        })
    }

    /// Random bytes in front of a message.
    #[must_use]
    pub fn padding(&self, kind: Kind) -> usize {
        let [initiation, response, cookie_reply, transport] = self.settings.paddings;
        usize::from(match kind {
            Kind::Initiation => initiation,
            Kind::Response => response,
            Kind::CookieReply => cookie_reply,
            Kind::Transport => transport,
        })
    }

    /// Types that mean a kind.
    #[must_use]
    pub fn types(&self, kind: Kind) -> TypeRange {
        let [initiation, response, cookie_reply, transport] = self.settings.types;
        match kind {
            Kind::Initiation => initiation,
            Kind::Response => response,
            Kind::CookieReply => cookie_reply,
            Kind::Transport => transport,
        }
    }

    /// Lengths of transport messages to a peer whose trailer window is `window`. The first rule that applies counts.
    #[must_use]
    pub fn shape(&self, window: usize) -> Shape {
        let padding = match (self.settings.content_padding, self.settings.trailers) {
            ((0, 0), Trailers::Off) => Padding::Sixteen,
            ((0, 0), Trailers::On) => Padding::Window(window),
            ((low, high), _) => Padding::Content { low, high },
        };
        let front = self.padding(Kind::Transport);
        Shape { front, padding }
    }

    /// Whether handshake messages end in random bytes.
    #[must_use]
    pub fn trailers(&self) -> Trailers {
        self.settings.trailers
    }

    /// Whether a responder under load answers with cookies.
    #[must_use]
    pub fn cookies(&self) -> Cookies {
        self.settings.cookies
    }

    pub(crate) fn header_key(&self) -> Option<&HeaderKey> {
        self.settings.header_key.as_ref()
    }

    pub(crate) fn junk(&self) -> Junk {
        self.settings.junk
    }

    pub(crate) fn signatures(&self) -> &[Template] {
        &self.signatures
    }
}

const SIGNATURE_KEYS: [&str; 5] = ["i1", "i2", "i3", "i4", "i5"];
