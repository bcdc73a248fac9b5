//! Query strings. A resource that takes parameters refuses those it does not know, because a misspelt `cursor` would
//! otherwise give the first page for ever; a resource without parameters ignores its query.

use axum::{
    extract::{FromRequestParts, RawQuery},
    http::request::Parts,
};

use crate::{code::Code, problem::Problem};

/// Items on a page when nothing is said.
const DEFAULT_LIMIT: u32 = 25;
const MOST: u32 = 100;

/// The parameters of a request, decoded.
#[derive(Debug, Default)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads a query and refuses parameters that are not among `known`, or are there twice.
    pub(crate) fn read(query: Option<&str>, known: &[&str]) -> Result<Self, Problem> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            if !known.contains(&name.as_str()) {
                let detail = format!("The parameters of this resource are: {}.", known.join(", "));
                return Err(Problem::new(Code::UnknownParameter, detail));
            }
            if parameters.iter().any(|(other, _)| *other == name) {
                return Err(Problem::new(Code::InvalidParameter, format!("`{name}` is given twice.")));
            }
            parameters.push((name, value));
        }
        Ok(Self(parameters))
    }

    /// The value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that has one possible value.
    pub(crate) fn is(&self, name: &str, only: &str) -> Result<bool, Problem> {
        match self.get(name) {
            None => Ok(false),
            Some(value) if value == only => Ok(true),
            Some(_) => Err(Problem::new(Code::InvalidParameter, format!("`{name}` can only be `{only}`."))),
        }
    }

    /// How many items a page shall have.
    pub(crate) fn limit(&self) -> Result<u32, Problem> {
        let Some(text) = self.get("limit") else { return Ok(DEFAULT_LIMIT) };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let limit = is_number.then(|| text.parse().ok()).flatten().filter(|limit| (1..=MOST).contains(limit));
        limit.ok_or_else(|| Problem::new(Code::InvalidLimit, Code::InvalidLimit.meaning()))
    }
}

/// The query of a request as it stands.
pub(crate) struct Query(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let RawQuery(query) = RawQuery::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

impl Query {
    /// Its text; empty without one.
    pub(crate) fn text(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The parameters, if all are among `known`.
    pub(crate) fn parameters(&self, known: &[&str]) -> Result<Parameters, Problem> {
        Parameters::read(self.0.as_deref(), known)
    }
}

/// Undoes percent-encoding, and takes `+` for a space.
fn decode(text: &str) -> Result<String, Problem> {
    let refuse = || Problem::new(Code::InvalidParameter, "The query is not percent-encoded UTF-8.");
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit().ok_or_else(refuse)?, digit().ok_or_else(refuse)?);
                u8::try_from(high * 16 + low).map_err(|_| refuse())?
            }
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8(out).map_err(|_| refuse())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(query: &str) -> Code {
        Parameters::read(Some(query), &["limit", "q"]).and_then(|read| read.limit()).unwrap_err().code()
    }

    #[test]
    fn limits_are_whole_numbers_from_1_to_100() {
        let limit = |query: Option<&str>| Parameters::read(query, &["limit"]).unwrap().limit().unwrap();
        assert_eq!(limit(None), 25);
        assert_eq!((limit(Some("limit=1")), limit(Some("limit=100&"))), (1, 100));
        for query in
            ["limit=0", "limit=101", "limit=", "limit=-1", "limit=%2B1", "limit=1e1", "limit=99999999999"]
        {
            assert_eq!(code(query), Code::InvalidLimit, "{query}");
        }
    }

    #[test]
    fn misspelt_and_repeated_parameters_are_refused() {
        assert_eq!(code("limt=5"), Code::UnknownParameter);
        assert_eq!(code("limit=5&limit=5"), Code::InvalidParameter);
        for query in ["q=%", "q=%f", "q=%zz", "q=%ff"] {
            assert_eq!(code(query), Code::InvalidParameter, "{query}");
        }
        let read = Parameters::read(Some("q=a%20b+c%2B"), &["q"]).unwrap();
        assert_eq!(read.get("q"), Some("a b c+"));
    }

    proptest! {
        #[test]
        fn no_query_is_too_odd_to_be_read_or_refused(query in "[ -~]{0,60}") {
            let _ = Parameters::read(Some(&query), &["a"]);
        }
    }
}
