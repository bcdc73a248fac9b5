//! What somebody wants to buy, read from what they wrote.

use domain::{
    FieldFailure,
    portal::{Plan, Scope, Scopes},
};

use super::OrderError;

/// Characters of the longest name.
const LONGEST_NAME: usize = 64;

/// A key to be bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTerms {
    /// For how long.
    pub plan: Plan,
    /// What its owner calls it.
    pub name: String,
    /// What it may be used for.
    pub scopes: Scopes,
}

impl KeyTerms {
    /// Reads a plan's word, a name and scopes' words. Without a name the key is called after its plan, without scopes it
    /// has all.
    pub fn read(plan: &str, name: Option<String>, scopes: Option<&[String]>) -> Result<Self, OrderError> {
        let plan: Plan = plan.parse().map_err(|_| OrderError::PlanUnknown)?;
        let mut faults = Vec::new();
        let name = name.unwrap_or_else(|| format!("{} key", plan.title()));
        if !is_name(&name) {
            faults.push(fault(
                "name",
                "invalid_name",
                "has 1 to 64 characters, none of which are control characters",
            ));
        }
        let scopes = scopes.map_or(Ok(Scopes::ALL), read_scopes).unwrap_or_else(|scope_fault| {
            faults.push(scope_fault);
            Scopes::default()
        });
        if faults.is_empty() { Ok(Self { plan, name, scopes }) } else { Err(OrderError::Invalid(faults)) }
    }
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control)
}

fn read_scopes(words: &[String]) -> Result<Scopes, FieldFailure> {
    let read: Result<Scopes, _> = words.iter().map(|word| word.parse::<Scope>()).collect();
    let unknown =
        |_| fault("scopes", "unknown_scope", "are dashboard:read, invoices:read and invoices:write");
    let scopes = read.map_err(unknown)?;
    if scopes.is_empty() {
        return Err(fault("scopes", "required", "are at least one, or left out for all"));
    }
    Ok(scopes)
}

fn fault(field: &'static str, code: &'static str, message: &'static str) -> FieldFailure {
    FieldFailure { field: field.into(), code, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: Option<&str>, scopes: Option<&[&str]>) -> Vec<&'static str> {
        let scopes: Option<Vec<String>> =
            scopes.map(|scopes| scopes.iter().map(|&scope| scope.to_owned()).collect());
        match KeyTerms::read("monthly", name.map(str::to_owned), scopes.as_deref()) {
            Ok(_) => Vec::new(),
            Err(OrderError::Invalid(faults)) => faults.iter().map(|fault| fault.code).collect(),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_key_has_a_name_and_scopes_of_its_own_or_all() {
        let terms = KeyTerms::read("three-months", None, None).unwrap();
        assert_eq!(
            (terms.plan, terms.name.as_str(), terms.scopes),
            (Plan::Quarterly, "Three months key", Scopes::ALL)
        );
        let scopes = ["invoices:read".to_owned(), "invoices:read".to_owned()];
        let terms = KeyTerms::read("yearly", Some("Toko Budi ☕".into()), Some(&scopes)).unwrap();
        assert_eq!(terms.scopes, [Scope::InvoicesRead].into_iter().collect());
        assert!(matches!(KeyTerms::read("weekly", None, None), Err(OrderError::PlanUnknown)));
    }

    #[test]
    fn every_fault_is_named() {
        assert_eq!(faults(Some(&"x".repeat(64)), None), [""; 0]);
        assert_eq!(faults(Some(&"ä".repeat(65)), None), ["invalid_name"]);
        assert_eq!(faults(Some(""), Some(&[])), ["invalid_name", "required"]);
        assert_eq!(faults(Some("a\nb"), Some(&["all"])), ["invalid_name", "unknown_scope"]);
    }
}
