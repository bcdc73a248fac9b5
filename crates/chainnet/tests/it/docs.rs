//! The documentation says what the binary does.

use std::fmt::Write;

use chainnet::config::{About, DEFAULTS, DefaultValue, SETTINGS, Shape};
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

#[test]
fn the_configuration_page_lists_every_setting_and_no_other() {
    let page = include_str!("../../../../docs/configuration.md");
    let mut expected = String::from("| key | variable | flag | default | |\n|---|---|---|---|---|\n");
    for About { key, env, flag, meaning, allowed, .. } in SETTINGS {
        let default = default_in_words(key);
        writeln!(expected, "| `{key}` | `{env}` | `--{flag}` | {default} | {meaning}: {allowed} |").unwrap();
    }
    let (_, after) = page.split_once("## Settings\n").expect("a section of settings");
    let listed = after.split_once("\n## ").map_or(after, |(listed, _)| listed);
    assert_eq!(listed.trim(), expected.trim(), "docs/configuration.md must list:\n{expected}");
}

#[test]
fn the_configuration_page_settles_which_chain_ids_count() {
    let page = include_str!("../../../../docs/configuration.md");
    assert!(page.contains("the decimals count"), "readers of the specification are told which form is right");
    for network in domain::Network::ALL {
        let (name, id) = (network.name(), network.chain_id());
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("{name} has no row"));
        assert!(row.contains(&format!("{id} (`{id:#x}`)")), "{row}");
    }
    // The specification's own hexadecimal forms, which are other chains.
    for wrong in ["0x2285", "0x2287"] {
        assert!(page.contains(wrong), "{wrong} is not explained");
    }
}

fn default_in_words(key: &str) -> String {
    let about = SETTINGS.into_iter().find(|about| about.key == key).expect("a setting");
    match about.default {
        DefaultValue::Fixed("") => "none".to_owned(),
        DefaultValue::Fixed(value) => format!("`{value}`"),
        DefaultValue::Depends(words) => words.to_owned(),
    }
}

#[test]
fn the_file_of_defaults_has_every_setting_with_its_default_and_meaning() {
    let mut expected = String::new();
    let mut section = "";
    for about in SETTINGS {
        let (of, name) = about.key.rsplit_once('.').unwrap_or(("", about.key));
        if of != section {
            write!(expected, "\n[{of}]").unwrap();
            section = of;
        }
        writeln!(expected, "\n# {}: {}.", about.meaning, about.allowed).unwrap();
        match (about.default, about.shape) {
            (DefaultValue::Depends(words), _) => writeln!(expected, "# Default: {words}.\n# {name} ="),
            (DefaultValue::Fixed(value), Shape::Text) => writeln!(expected, "{name} = \"{value}\""),
            (DefaultValue::Fixed(value), Shape::Number | Shape::Switch) => {
                writeln!(expected, "{name} = {value}")
            }
            (DefaultValue::Fixed(value), Shape::List) => writeln!(expected, "{name} = [{value}]"),
        }
        .unwrap();
    }
    let (_, listed) = DEFAULTS.split_once("\n\n").expect("a paragraph about the file");
    assert_eq!(listed.trim(), expected.trim(), "config/default.toml must be:\n{expected}");
}
