//! What a GraphQL document may ask for. Everything is checked here, before anything is executed, so that a refusal can
//! carry its code; the library's own limits say no more than a sentence.
//!
//! Introspection is exempt from the depth: the usual introspection query is deeper than any question about the chain, and it is
//! answered from memory.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{
    ErrorExtensionValues, Name, Positioned, ServerError, ServerResult, ValidationResult, Variables,
    async_trait,
    extensions::{Extension, ExtensionContext, ExtensionFactory, NextParseQuery, NextValidation},
    parser::types::{ExecutableDocument, FragmentDefinition, Selection, SelectionSet},
};

use crate::code::Code;

/// Levels of fields.
const DEEPEST: usize = 8;
/// Levels of brackets in the text, which bound the parser's recursion before it starts.
const DEEPEST_BRACKETS: usize = 32;
const MOST_TOKENS: usize = 2_000;
const MOST_ALIASES: usize = 30;
/// Fields of the outermost level: each of them reads the chain.
const MOST_ROOT_FIELDS: usize = 30;
/// Sum over all fields, those inside lists counted as many times as the list is expected to be long.
const MOST_COMPLEX: usize = 5_000;

/// Fields that are lists, and how long they may be expected to be.
const LISTS: [(&str, usize); 7] = [
    ("validators", 21),
    ("committers", 21),
    ("transactions", 25),
    ("logs", 10),
    ("topics", 4),
    ("sources", 7),
    ("history", 30),
];

/// Refuses documents that ask for too much, and gives refusals of the library their code.
pub(super) struct Limits;

impl ExtensionFactory for Limits {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_trait::async_trait]
impl Extension for Limits {
    async fn parse_query(
        &self,
        ctx: &ExtensionContext<'_>,
        query: &str,
        variables: &Variables,
        next: NextParseQuery<'_>,
    ) -> ServerResult<ExecutableDocument> {
        scan(query).map_err(too_large)?;
        let document =
            next.run(ctx, query, variables).await.map_err(|error| with_code(error, Code::InvalidQuery))?;
        measure(&document).map_err(too_large)?;
        Ok(document)
    }

    async fn validation(
        &self,
        ctx: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        let coded = |errors: Vec<ServerError>| {
            errors.into_iter().map(|error| with_code(error, Code::InvalidQuery)).collect()
        };
        next.run(ctx).await.map_err(coded)
    }
}

fn with_code(mut error: ServerError, code: Code) -> ServerError {
    error.extensions.get_or_insert_with(ErrorExtensionValues::default).set("code", code.word());
    error
}

fn too_large(reason: &'static str) -> ServerError {
    with_code(ServerError::new(reason, None), Code::QueryTooLarge)
}

/// Counts tokens and levels of brackets without parsing.
fn scan(query: &str) -> Result<(), &'static str> {
    let (mut tokens, mut depth, mut in_word) = (0usize, 0usize, false);
    let mut bytes = query.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                // Skips the string; block strings are three of them in a row, which comes to the same.
                let mut escaped = false;
                let _ = bytes.find(|&byte| {
                    let is_end = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    is_end
                });
            }
            b'#' => {
                let _ = bytes.find(|byte| *byte == b'\n');
            }
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        if !(byte.is_ascii_whitespace() || byte == b',' || (is_word && in_word)) {
            tokens += 1;
        }
        in_word = is_word;
        if depth > DEEPEST_BRACKETS {
            return Err("the query is nested too deep");
        }
        if tokens > MOST_TOKENS {
            return Err("the query has too many tokens");
        }
    }
    Ok(())
}

/// What a document asks for.
struct Measure<'a> {
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    aliases: usize,
    complexity: usize,
}

fn measure(document: &ExecutableDocument) -> Result<(), &'static str> {
    let mut measure = Measure { fragments: &document.fragments, aliases: 0, complexity: 0 };
    for (_, operation) in document.operations.iter() {
        let root_fields = measure.walk(&operation.node.selection_set.node, 1, 1, 0)?;
        if root_fields > MOST_ROOT_FIELDS {
            return Err("the query has too many fields at its outermost level");
        }
    }
    Ok(())
}

impl Measure<'_> {
    /// Adds up a level; returns how many fields it has. `spreads` bounds fragments that name each other in a circle.
    fn walk(
        &mut self,
        set: &SelectionSet,
        depth: usize,
        times: usize,
        spreads: usize,
    ) -> Result<usize, &'static str> {
        let mut fields = 0;
        for selection in &set.items {
            fields += match &selection.node {
                Selection::Field(field) => {
                    let name = field.node.name.node.as_str();
                    self.aliases += usize::from(field.node.alias.is_some());
                    self.complexity = self.complexity.saturating_add(times);
                    self.check()?;
                    if !name.starts_with("__") {
                        if depth > DEEPEST {
                            return Err("the query is nested too deep");
                        }
                        let length =
                            LISTS.iter().find(|(list, _)| *list == name).map_or(1, |(_, length)| *length);
                        let inner = times.saturating_mul(length);
                        self.walk(&field.node.selection_set.node, depth + 1, inner, spreads)?;
                    }
                    1
                }
                Selection::InlineFragment(fragment) => {
                    self.walk(&fragment.node.selection_set.node, depth, times, spreads)?
                }
                Selection::FragmentSpread(spread) => {
                    self.complexity = self.complexity.saturating_add(1);
                    self.check()?;
                    if spreads > DEEPEST {
                        return Err("the query is nested too deep");
                    }
                    match self.fragments.get(&spread.node.fragment_name.node) {
                        Some(fragment) => {
                            self.walk(&fragment.node.selection_set.node, depth, times, spreads + 1)?
                        }
                        None => 0,
                    }
                }
            };
        }
        Ok(fields)
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.aliases > MOST_ALIASES {
            return Err("the query has too many aliases");
        }
        if self.complexity > MOST_COMPLEX {
            return Err("the query is too complex");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    fn verdict(query: &str) -> Result<(), &'static str> {
        scan(query)?;
        measure(&parse_query(query).unwrap())
    }

    #[test]
    fn ordinary_queries_pass() {
        verdict("{ chain { blockNumber } a: latestBlock { number } b: latestBlock { hash } }").unwrap();
        verdict("{ validators { address moniker stake commission } burns { sources { source } } }").unwrap();
        verdict(
            r#"{ balance(address: "{{{ \" ]]") # {{{ 
        }"#,
        )
        .unwrap();
    }

    #[test]
    fn introspection_may_be_deep() {
        let types = "ofType { ".repeat(9) + "name" + &" }".repeat(9);
        verdict(&format!("{{ __schema {{ types {{ fields {{ type {{ {types} }} }} }} }} }}")).unwrap();
    }

    #[test]
    fn too_much_is_refused_by_name() {
        let deep = "{ a ".repeat(9) + &"}".repeat(9);
        assert_eq!(verdict(&deep), Err("the query is nested too deep"));
        assert_eq!(verdict(&"{".repeat(20_000)), Err("the query is nested too deep"));
        let aliases: String = (0..31).map(|n| format!("a{n}: b ")).collect();
        assert_eq!(verdict(&format!("{{ x {{ {aliases} }} }}")), Err("the query has too many aliases"));
        let roots = "chain ".repeat(31);
        assert_eq!(
            verdict(&format!("{{ {roots} }}")),
            Err("the query has too many fields at its outermost level")
        );
        let wide = "x ".repeat(600);
        assert_eq!(verdict(&format!("{{ transactions {{ {wide} }} }}")), Err("the query is too complex"));
        assert_eq!(verdict(&format!("{{ {} }}", "x ".repeat(3_000))), Err("the query has too many tokens"));
    }

    #[test]
    fn fragments_that_multiply_or_circle_are_refused() {
        let circle = "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }";
        assert_eq!(verdict(circle), Err("the query is nested too deep"));
        let mut bomb = "{ ...f0 }".to_owned();
        for level in 0..7 {
            let next = format!("...f{} ", level + 1).repeat(10);
            bomb.push_str(&format!(" fragment f{level} on Query {{ {next} }}"));
        }
        bomb.push_str(" fragment f7 on Query { chain { blockNumber } }");
        assert_eq!(verdict(&bomb), Err("the query is too complex"));
    }
}
