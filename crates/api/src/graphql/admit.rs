//! What a GraphQL document may ask for, known before the library sees it. The library walks fragments wherever they are spread,
//! so its own limits are reached only after work that a small document can make endless.

use std::collections::{HashMap, HashSet};

use async_graphql::{
    Name, Positioned, Request, ServerError,
    parser::{
        parse_query, parse_schema,
        types::{
            BaseType, ExecutableDocument, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
            Type, TypeKind, TypeSystemDefinition,
        },
    },
};

use super::limits::{invalid, too_large};

/// Opening brackets in the text, wherever they stand. The parser calls itself only behind one of them, so this bounds its
/// stack, whatever is a string or a comment to whom.
const MAX_BRACKETS: usize = 400;
/// Levels of fields.
const MAX_DEPTH: usize = 8;
/// Levels of introspection: the usual query unwraps types nine times.
const MAX_INTROSPECTION_DEPTH: usize = 20;
const MAX_ALIASES: usize = 30;
/// Fields of the outermost level: each of them reads the chain.
const MAX_ROOT_FIELDS: usize = 30;
/// Sum over all fields, those inside lists counted as many times as the list is expected to be long.
const MAX_COMPLEXITY: usize = 5_000;
/// The same for introspection, which is answered from memory.
const MAX_INTROSPECTION: usize = 40_000;

/// Fields that are lists, and how long they are expected to be.
const LISTS: [(&str, usize); 7] = [
    ("validators", 21),
    ("committers", 21),
    ("transactions", 25),
    ("logs", 10),
    ("topics", 4),
    ("sources", 7),
    ("history", 30),
];

/// The same for introspection: the mean over our types. What a document really makes of them is counted as it is resolved.
const INTROSPECTION_LISTS: [(&str, usize); 9] = [
    ("types", 50),
    ("fields", 5),
    ("args", 1),
    ("inputFields", 1),
    ("enumValues", 1),
    ("possibleTypes", 1),
    ("interfaces", 1),
    ("directives", 6),
    ("locations", 4),
];

/// Scalars of every schema, which type definitions leave out.
const BUILT_IN: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

/// Decides about documents.
pub(super) struct Admission {
    /// Types that a variable can have.
    input_types: HashSet<Name>,
}

impl Admission {
    /// Documents for the schema with these type definitions.
    pub(super) fn new(type_definitions: &str) -> Self {
        let built_in = BUILT_IN.into_iter().map(Name::new);
        let definitions = parse_schema(type_definitions).map(|schema| schema.definitions).unwrap_or_default();
        let ours = definitions.into_iter().filter_map(|definition| match definition {
            TypeSystemDefinition::Type(kind) => match kind.node.kind {
                TypeKind::Scalar | TypeKind::Enum(_) | TypeKind::InputObject(_) => Some(kind.node.name.node),
                TypeKind::Object(_) | TypeKind::Interface(_) | TypeKind::Union(_) => None,
            },
            TypeSystemDefinition::Schema(_) | TypeSystemDefinition::Directive(_) => None,
        });
        Self { input_types: built_in.chain(ours).collect() }
    }

    /// Parses the document of a request and refuses what asks for too much.
    pub(super) fn admit(&self, mut request: Request) -> Result<Request, ServerError> {
        let brackets = request.query.bytes().filter(|byte| matches!(byte, b'{' | b'[' | b'(')).count();
        if brackets > MAX_BRACKETS {
            return Err(too_large("the query has too many brackets"));
        }
        let document = parse_query(&request.query).map_err(|error| invalid(error.into()))?;
        for (_, operation) in document.operations.iter() {
            self.check_variables(&operation.node)?;
        }
        measure(&document)?;
        request.set_parsed_query(document);
        Ok(request)
    }

    /// The library panics at the default value of a variable whose type it does not know.
    fn check_variables(&self, operation: &OperationDefinition) -> Result<(), ServerError> {
        for variable in &operation.variable_definitions {
            let kind = &variable.node.var_type;
            let name = named(&kind.node);
            if !self.input_types.contains(name) {
                let reason =
                    format!("variable \"${}\" cannot be of type \"{name}\"", variable.node.name.node);
                return Err(invalid(ServerError::new(reason, Some(kind.pos))));
            }
        }
        Ok(())
    }
}

/// The name of a type within its lists. They are as deep as brackets allow.
fn named(kind: &Type) -> &Name {
    match &kind.base {
        BaseType::Named(name) => name,
        BaseType::List(inner) => named(inner),
    }
}

fn measure(document: &ExecutableDocument) -> Result<(), ServerError> {
    let mut measure = Measure { fragments: &document.fragments, costs: HashMap::new() };
    // Those that no operation spreads are walked by the library, too.
    for name in document.fragments.keys() {
        measure.fragment(name)?.check()?;
    }
    for (_, operation) in document.operations.iter() {
        let cost = measure.set(&operation.node.selection_set.node, false)?;
        cost.check()?;
        if cost.fields > MAX_ROOT_FIELDS {
            return Err(too_large("the query has too many fields at its outermost level"));
        }
    }
    Ok(())
}

/// What a selection asks for, with everything that it spreads.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Fields of its outermost level.
    fields: usize,
    aliases: usize,
    depth: usize,
    complexity: usize,
    introspection_depth: usize,
    introspection: usize,
}

impl Cost {
    fn check(&self) -> Result<(), ServerError> {
        let reason = if self.depth > MAX_DEPTH || self.introspection_depth > MAX_INTROSPECTION_DEPTH {
            "the query is nested too deep"
        } else if self.aliases > MAX_ALIASES {
            "the query has too many aliases"
        } else if self.complexity > MAX_COMPLEXITY || self.introspection > MAX_INTROSPECTION {
            "the query is too complex"
        } else {
            return Ok(());
        };
        Err(too_large(reason))
    }

    /// Adds a selection of the same level.
    fn add(&mut self, other: Self) {
        self.fields = self.fields.saturating_add(other.fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.depth = self.depth.max(other.depth);
        self.complexity = self.complexity.saturating_add(other.complexity);
        self.introspection_depth = self.introspection_depth.max(other.introspection_depth);
        self.introspection = self.introspection.saturating_add(other.introspection);
    }

    /// A field above this selection, which is answered `times` times.
    fn below(self, is_introspection: bool, times: usize) -> Self {
        let (data, introspection) = if is_introspection { (0, 1) } else { (1, 0) };
        Self {
            fields: 1,
            aliases: self.aliases,
            depth: self.depth + data,
            complexity: self.complexity.saturating_mul(times).saturating_add(data),
            introspection_depth: self.introspection_depth + introspection,
            introspection: self.introspection.saturating_mul(times).saturating_add(introspection),
        }
    }

    /// A fragment with this selection.
    fn spread(mut self, is_introspection: bool) -> Self {
        let count = if is_introspection { &mut self.introspection } else { &mut self.complexity };
        *count = count.saturating_add(1);
        self
    }
}

/// Measures each fragment once, however often it is spread.
struct Measure<'a> {
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    /// None while a fragment is being measured.
    costs: HashMap<&'a str, Option<Cost>>,
}

impl<'a> Measure<'a> {
    fn set(&mut self, set: &'a SelectionSet, is_introspection: bool) -> Result<Cost, ServerError> {
        let mut sum = Cost::default();
        for selection in &set.items {
            sum.add(match &selection.node {
                Selection::Field(field) => {
                    let name = field.node.name.node.as_str();
                    let is_introspection = is_introspection || name.starts_with("__");
                    let inner = self.set(&field.node.selection_set.node, is_introspection)?;
                    let mut cost = inner.below(is_introspection, expected_length(name, is_introspection));
                    cost.aliases += usize::from(field.node.alias.is_some());
                    cost
                }
                // A fragment costs its walk, even if nothing comes of it.
                Selection::InlineFragment(fragment) => {
                    self.set(&fragment.node.selection_set.node, is_introspection)?.spread(is_introspection)
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name.node)?.spread(is_introspection)
                }
            });
        }
        Ok(sum)
    }

    fn fragment(&mut self, name: &str) -> Result<Cost, ServerError> {
        // The library has words for a fragment that is not there.
        let Some((name, fragment)) = self.fragments.get_key_value(name) else { return Ok(Cost::default()) };
        match self.costs.insert(name, None) {
            Some(Some(known)) => {
                self.costs.insert(name, Some(known));
                Ok(known)
            }
            Some(None) => {
                let reason = format!("fragment \"{name}\" spreads itself");
                Err(invalid(ServerError::new(reason, Some(fragment.pos))))
            }
            None => {
                let is_introspection = fragment.node.type_condition.node.on.node.starts_with("__");
                let cost = self.set(&fragment.node.selection_set.node, is_introspection)?;
                self.costs.insert(name, Some(cost));
                Ok(cost)
            }
        }
    }
}

fn expected_length(field: &str, is_introspection: bool) -> usize {
    let lists: &[(&str, usize)] = if is_introspection { &INTROSPECTION_LISTS } else { &LISTS };
    lists.iter().find(|(list, _)| *list == field).map_or(1, |(_, length)| *length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(query: &str) -> Result<(), String> {
        let admission = Admission::new("scalar Long enum Unit { COIN } type Block { number: Long }");
        admission.admit(Request::new(query)).map(drop).map_err(|error| error.message)
    }

    fn refused(reason: &str) -> Result<(), String> {
        Err(reason.to_owned())
    }

    #[test]
    fn ordinary_queries_pass() {
        verdict("{ chain { blockNumber } a: latestBlock { number } b: latestBlock { hash } }").unwrap();
        verdict("{ validators { address moniker stake commission } burns { sources { source } } }").unwrap();
        verdict("{ balance(address: \"{{{ \\\" ]]\") # {{{ \n }").unwrap();
    }

    #[test]
    fn too_much_is_refused_by_name() {
        let deep = "{ a ".repeat(9) + &"}".repeat(9);
        assert_eq!(verdict(&deep), refused("the query is nested too deep"));
        assert_eq!(verdict(&"{".repeat(20_000)), refused("the query has too many brackets"));
        let aliases: String = (0..31).map(|n| format!("a{n}: b ")).collect();
        assert_eq!(verdict(&format!("{{ x {{ {aliases} }} }}")), refused("the query has too many aliases"));
        assert_eq!(
            verdict(&format!("{{ {} }}", "chain ".repeat(31))),
            refused("the query has too many fields at its outermost level")
        );
        let wide = "x ".repeat(600);
        assert_eq!(verdict(&format!("{{ transactions {{ {wide} }} }}")), refused("the query is too complex"));
    }

    #[test]
    fn variables_are_of_types_that_can_be_sent() {
        verdict("query ($a: [[Long!]!] = [[1]], $b: Unit = COIN, $c: ID) { chain }").unwrap();
        assert_eq!(
            verdict("query ($a: [Nope!] = [1]) { chain }"),
            refused("variable \"$a\" cannot be of type \"Nope\"")
        );
        assert_eq!(
            verdict("query ($a: Block) { chain }"),
            refused("variable \"$a\" cannot be of type \"Block\"")
        );
    }

    #[test]
    fn aliases_and_fields_count_wherever_a_fragment_is_spread() {
        let aliases: String = (0..4).map(|n| format!("a{n}: b ")).collect();
        let spread = "x { ...f } ".repeat(8);
        assert_eq!(
            verdict(&format!("{{ {spread} }} fragment f on T {{ {aliases} }}")),
            refused("the query has too many aliases")
        );
        let spread = "...f ".repeat(8);
        assert_eq!(
            verdict(&format!("{{ {spread} }} fragment f on Query {{ a b c d }}")),
            refused("the query has too many fields at its outermost level")
        );
    }

    #[test]
    fn a_fragment_in_a_circle_is_refused_even_if_nothing_spreads_it() {
        for circle in ["{ ...a }", "{ chain { chainId } }"] {
            let query = format!("{circle} fragment a on Query {{ ...b }} fragment b on Query {{ ...a }}");
            assert!(verdict(&query).unwrap_err().ends_with("spreads itself"), "{query}");
        }
    }
}
