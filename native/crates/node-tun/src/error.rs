//! Errors as JavaScript sees them: a sentence, `code` and, where the kernel is the origin, `errno`.

use napi::bindgen_prelude::{JsObjectValue, JsValue, Object, Unknown};
use napi::{Env, Error, JsError};

/// An error on its way to JavaScript.
#[derive(Debug)]
pub(crate) struct Failure {
    code: &'static str,
    errno: i32,
    sentence: String,
}

impl Failure {
    pub(crate) fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        Failure {
            code,
            errno: 0,
            sentence: sentence.into(),
        }
    }

    pub(crate) fn with_errno(code: &'static str, errno: i32, sentence: impl Into<String>) -> Self {
        Failure {
            code,
            errno,
            sentence: sentence.into(),
        }
    }

    /// Makes the JavaScript error.
    pub(crate) fn into_error(self, env: &Env) -> Error {
        let plain = || Error::from_reason(self.sentence.clone());
        let unknown: Unknown<'_> = JsError::from(plain()).into_unknown(*env);
        let Ok(mut object) = unknown.coerce_to_object() else {
            return plain();
        };
        if self.decorate(&mut object).is_err() {
            return plain();
        }
        object.to_unknown().into()
    }

    fn decorate(&self, object: &mut Object<'_>) -> napi::Result<()> {
        object.set_named_property("code", self.code)?;
        if self.errno != 0 {
            object.set_named_property("errno", self.errno)?;
        }
        Ok(())
    }
}

macro_rules! from_sys {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::with_errno(error.code(), error.errno(), sentence(&error))
            }
        }
    )*};
}

from_sys!(
    sys::OpenError,
    sys::BindError,
    sys::netlink::NetlinkError,
    sys::icmp::PingError
);

/// The error with all its causes.
fn sentence(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
