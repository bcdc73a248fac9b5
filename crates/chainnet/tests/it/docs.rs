//! The documentation says what the binary does.

use std::fmt::Write;

use devchain::rpc::{Group, method_entries};

#[test]
fn the_json_rpc_page_lists_every_method_and_no_other() {
    let page = include_str!("../../../../docs/json-rpc.md");
    let mut expected = String::new();
    for group in Group::ALL {
        writeln!(expected, "\n### {}\n\n| method | |\n|---|---|", group.name()).unwrap();
        for method in method_entries().filter(|method| method.group == group) {
            writeln!(expected, "| `{}` | {} |", method.name, method.summary).unwrap();
        }
    }
    let (_, listed) = page.split_once("## Methods\n").expect("a section of methods");
    assert_eq!(listed.trim(), expected.trim(), "docs/json-rpc.md must list:\n{expected}");
}
