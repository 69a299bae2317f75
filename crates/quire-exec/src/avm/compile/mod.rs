//! Expressions become programs.
//!
//! Conditions become branches: true, false and NULL are three places to go on at, so no three-valued logic is computed. Values that a
//! program has computed on every way to a place are used again there: columns, which are decoded once, and common subexpressions.
//! Code only ever leads forward.

mod aggregate;
mod arithmetic;
mod cast;
mod condition;
mod labels;
mod pool;
mod same;
mod value;

pub use aggregate::{Accumulation, Extremum};
pub use pool::{CompileError, RegisterPool};

use labels::{Labels, UnresolvedLabel};

use super::opcode::Instruction;
use super::operand::{Attribute, Label, TextRegister, Wide, WordRegister};
use super::program::{Program, ProgramDraft};
use super::register::Register;
use crate::plan::{Expression, ValueKind};

/// Where a column of the rows that a program sees is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnBinding {
    /// It is decoded, or was never encoded.
    Register(Register),
    /// It is in a tuple.
    Attribute {
        attribute: Attribute,
        /// Whether others will ask for the column, too: then it is decoded into a register when it is met first.
        is_shared: bool,
    },
    /// Nobody said.
    None,
}

/// A value that a program has in a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldValue {
    pub(super) register: Register,
    pub(super) nullable: bool,
}

/// An expression whose value is in a register.
#[derive(Debug)]
struct CommonSubexpression<'e> {
    expression: &'e Expression,
    held: HeldValue,
}

/// Makes one program. `'e` is the life of the expressions.
#[derive(Debug)]
pub struct Compiler<'e, 'p> {
    pool: &'p mut RegisterPool,
    columns: Vec<ColumnBinding>,
    draft: ProgramDraft,
    labels: Labels,
    known: Vec<CommonSubexpression<'e>>,
    /// How often this program's expressions ask for each column.
    uses: Vec<u32>,
    reject: Option<UnresolvedLabel>,
}

impl<'e, 'p> Compiler<'e, 'p> {
    /// For rows whose columns are there; `tuples` are the tuple registers with their numbers of columns.
    pub fn new(
        pool: &'p mut RegisterPool,
        columns: Vec<ColumnBinding>,
        tuples: &[(super::operand::Tuple, u16)],
    ) -> Self {
        let draft = ProgramDraft {
            tuples: tuples.to_vec(),
            ..ProgramDraft::default()
        };
        Self {
            pool,
            uses: vec![0; columns.len()],
            columns,
            draft,
            labels: Labels::default(),
            known: Vec::new(),
            reject: None,
        }
    }

    /// Announces expressions that will follow: a column that only one of them asks for once need not be in a register.
    pub fn announce(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        for expression in expressions {
            let uses = &mut self.uses;
            count_columns(expression, uses);
        }
    }

    /// Leaves out rows for which a condition is not true.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub fn filter(&mut self, condition: &'e Expression) -> Result<(), CompileError> {
        let reject = match self.reject {
            Some(reject) => reject,
            None => *self.reject.insert(self.labels.add()),
        };
        let taken = self.labels.add();
        self.condition(
            condition,
            condition::Exits::new(taken, reject, reject),
            taken,
        )?;
        self.place(taken);
        Ok(())
    }

    /// Computes a value; the register that has it when the program stops.
    ///
    /// The register belongs to the row. Iterators write it: a join sets it to NULL for a row without a match, a group and a spilled row put their
    /// values back. All programs of the query share the register of a constant or a parameter, so such a value is copied.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub fn output(&mut self, expression: &'e Expression) -> Result<Register, CompileError> {
        let register = self.value(expression)?.register;
        if !self.pool.is_shared(register) {
            return Ok(register);
        }
        let own = self.fresh(register.kind())?;
        self.copy(register, own)?;
        Ok(own)
    }

    /// Computes a value into a register that others write, too.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub(crate) fn output_to(
        &mut self,
        expression: &'e Expression,
        register: Register,
    ) -> Result<(), CompileError> {
        let held = self.value(expression)?;
        self.copy(held.register, register)
    }

    /// Ends the program. The places of the columns as they are afterwards: decoded ones are in registers.
    ///
    /// # Errors
    /// As the variants of [`CompileError`] say.
    pub fn finish(mut self) -> Result<(Program, Vec<ColumnBinding>), CompileError> {
        for known in self.labels.available() {
            if let Some(CommonSubexpression {
                expression: Expression::Column { slot, .. },
                held,
            }) = self.known.get(*known)
                && let Some(place) = self.columns.get_mut(*slot)
            {
                *place = ColumnBinding::Register(held.register);
            }
        }
        self.emit(Instruction::STOP {});
        if let Some(reject) = self.reject {
            self.place(reject);
            self.emit(Instruction::REJECT {});
        }
        for instruction in &mut self.draft.instructions {
            if let Some(Label(number)) = instruction.target() {
                instruction.set_target(Label(self.labels.target(UnresolvedLabel(number))?));
            }
        }
        self.draft.constants = self.pool.constants().to_vec();
        self.draft.inputs.extend(self.pool.inputs());
        for column in &self.columns {
            if let ColumnBinding::Register(register) = column {
                self.draft.inputs.push(*register);
            }
        }
        Ok((Program::new(self.draft)?, self.columns))
    }

    /// Adds an instruction. The labels of branches are places until the program is finished.
    fn emit(&mut self, instruction: Instruction) {
        if !self.labels.is_reached() {
            return;
        }
        if let Some(Label(place)) = instruction.target() {
            self.labels.branch(UnresolvedLabel(place));
        }
        self.draft.instructions.push(instruction);
        if matches!(
            instruction,
            Instruction::STOP {} | Instruction::REJECT {} | Instruction::JUMP { .. }
        ) {
            self.labels.stop();
        }
    }

    /// The next instruction is there.
    fn place(&mut self, place: UnresolvedLabel) {
        self.labels.place(place, self.draft.instructions.len());
    }

    /// Goes on there, which is `next` to what is emitted or not.
    fn go(&mut self, place: UnresolvedLabel, next: UnresolvedLabel) {
        if place != next {
            self.emit(Instruction::JUMP { to: place.label() });
        }
    }

    /// A register that nothing else has.
    fn fresh(&mut self, kind: ValueKind) -> Result<Register, CompileError> {
        self.pool.fresh(kind)
    }

    fn fresh_word(&mut self) -> Result<WordRegister, CompileError> {
        self.pool.word()
    }

    fn fresh_wide(&mut self) -> Result<Wide, CompileError> {
        self.pool.wide()
    }

    fn fresh_text(&mut self) -> Result<TextRegister, CompileError> {
        self.pool.text()
    }

    /// Remembers that a register has the value of an expression from here on.
    fn remember(&mut self, expression: &'e Expression, held: HeldValue) {
        self.labels.know(self.known.len());
        self.known.push(CommonSubexpression { expression, held });
    }

    /// The register that has the value of an expression here.
    fn recall(&self, expression: &Expression) -> Option<HeldValue> {
        let known = self.labels.available().iter();
        let mut known = known.filter_map(|number| self.known.get(*number));
        let found = known.find(|known| same::is_same(known.expression, expression));
        found.map(|known| known.held)
    }
}

fn count_columns(expression: &Expression, uses: &mut [u32]) {
    if let Expression::Column { slot, .. } = expression
        && let Some(uses) = uses.get_mut(*slot)
    {
        *uses += 1;
    }
    for child in expression.children() {
        count_columns(child, uses);
    }
}
