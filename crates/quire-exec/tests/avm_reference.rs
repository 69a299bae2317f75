//! `AVM.md` says what the opcodes do, from the list that the machine is made of. `QUIRE_WRITE_REFERENCE=1` writes it.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use quire_exec::avm::{OPCODES, Opcode, OperandKind};

fn kind(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::Word => "`w`",
        OperandKind::Wide => "`n`",
        OperandKind::Text => "`s`",
        OperandKind::Tuple => "`t`",
        OperandKind::Attribute => "`t.`",
        OperandKind::WordTarget => "→ `w`",
        OperandKind::WideTarget => "→ `n`",
        OperandKind::TextTarget => "→ `s`",
        OperandKind::TupleTarget => "→ `t`",
        OperandKind::Label => "`@`",
        OperandKind::Slot => "`#`",
        OperandKind::Pattern => "`%` pattern",
        OperandKind::WordSet => "`%` set of `w`",
        OperandKind::WideSet => "`%` set of `n`",
        OperandKind::TextSet => "`%` set of `s`",
        OperandKind::Call => "`%` call",
    }
}

fn line(reference: &mut String, opcode: &Opcode) {
    let operands = opcode.operands.iter();
    let operands: Vec<String> = operands
        .map(|(name, of)| format!("{name} {}", kind(*of)))
        .collect();
    let effect: Vec<&str> = opcode.effect.iter().map(|line| line.trim()).collect();
    let (operands, effect) = (operands.join(", "), effect.join(" "));
    writeln!(reference, "| `{}` | {operands} | {effect} |", opcode.name).unwrap();
}

fn reference() -> String {
    let mut reference = String::from(
        "# Opcodes of the AVM\n\n\
         Generated from `src/avm/opcode.rs`; how names are made, and what the letters mean, is said there. `w`, `n`, `s`, `t`: registers of numbers,\n\
         decimals, strings and tuples; `t.`: an attribute of the tuple in a register; `@`: where to go on; `#`: a slot of the present group;\n\
         `%`: what a program has beside its instructions; `→`: the register that is written.\n\n\
         | Opcode | Operands | Effect |\n|---|---|---|\n",
    );
    for opcode in OPCODES {
        line(&mut reference, opcode);
    }
    reference
}

#[test]
fn the_reference_is_that_of_the_opcodes() {
    let path = "AVM.md";
    if std::env::var_os("QUIRE_WRITE_REFERENCE").is_some() {
        std::fs::write(path, reference()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        written,
        reference(),
        "run this test with QUIRE_WRITE_REFERENCE=1"
    );
}
