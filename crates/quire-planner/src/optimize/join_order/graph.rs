//! A tree of inner joins, taken apart.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use datafusion::common::{Column, NullEquality, Result};
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{BinaryExpr, Expr, Join, JoinType, LogicalPlan, Operator};

/// Most inputs that a tree may have to be reordered: a set of them is a 64-bit mask.
const MAX_INPUTS: usize = 63;

/// A set of inputs, one bit each.
pub(in crate::optimize) type InputSet = u64;

/// The shape of a join tree over numbered inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::optimize) enum Tree {
    Input(usize),
    /// The left side is the one that a hash join reads first and keeps.
    Join(Box<Tree>, Box<Tree>),
    /// The semi or anti join of that number, applied to the tree.
    Semi(usize, Box<Tree>),
}

impl Tree {
    pub(in crate::optimize) fn inputs(&self) -> InputSet {
        match self {
            Tree::Input(index) => 1 << index,
            Tree::Join(left, right) => left.inputs() | right.inputs(),
            Tree::Semi(_, tree) => tree.inputs(),
        }
    }

    /// The tree of the inputs that are in `kept`; `None` if none is.
    pub(in crate::optimize) fn without_others(&self, kept: InputSet) -> Option<Self> {
        match self {
            Tree::Input(index) => (kept & 1 << index != 0).then(|| self.clone()),
            Tree::Join(left, right) => {
                let sides = [left, right].map(|side| side.without_others(kept));
                match sides {
                    [Some(left), Some(right)] => Some(Tree::Join(Box::new(left), Box::new(right))),
                    [side, None] | [None, side] => side,
                }
            }
            Tree::Semi(index, tree) => {
                let tree = tree.without_others(kept)?;
                Some(Tree::Semi(*index, Box::new(tree)))
            }
        }
    }
}

/// A semi or anti join that tests columns of one input.
#[derive(Debug)]
pub(in crate::optimize) struct SemiJoin {
    /// The join as it was found; its left side is not looked at.
    pub(in crate::optimize) join: Join,
    /// The input whose columns it tests.
    pub(in crate::optimize) input: usize,
}

/// Expressions that the joins make equal, each over one input.
#[derive(Debug)]
pub(in crate::optimize) struct EqualityClass {
    pub(in crate::optimize) members: Vec<(usize, Expr)>,
}

impl EqualityClass {
    pub(in crate::optimize) fn inputs(&self) -> InputSet {
        self.members
            .iter()
            .fold(0, |set, (input, _)| set | 1 << input)
    }
}

/// Inputs, predicates and present shape of a tree of inner joins.
#[derive(Debug)]
pub(in crate::optimize) struct JoinGraph {
    pub(in crate::optimize) inputs: Vec<LogicalPlan>,
    pub(in crate::optimize) semi_joins: Vec<SemiJoin>,
    pub(in crate::optimize) classes: Vec<EqualityClass>,
    /// Other predicates with the inputs they read.
    pub(in crate::optimize) conditions: Vec<(InputSet, Expr)>,
    pub(in crate::optimize) current: Tree,
}

impl JoinGraph {
    /// Takes `plan` apart; `None` when there is nothing to choose.
    pub(in crate::optimize) fn of(plan: &LogicalPlan) -> Result<Option<Self>> {
        let mut parts = JoinGraphParts::default();
        parts.flatten(plan);
        let inner_count = parts.inputs.len();
        if !(2..=MAX_INPUTS).contains(&inner_count) || parts.is_hopeless {
            return Ok(None);
        }
        Ok(parts.into_graph())
    }

    /// The plans whose own join trees are still to be ordered.
    pub(in crate::optimize) fn inputs_mut(&mut self) -> impl Iterator<Item = &mut LogicalPlan> {
        let rights = self
            .semi_joins
            .iter_mut()
            .map(|semi| Arc::make_mut(&mut semi.join.right));
        self.inputs.iter_mut().chain(rights)
    }

    /// The inputs that `expr` reads; `None` when a column belongs to none.
    fn inputs_of(owners: &HashMap<Column, usize>, expr: &Expr) -> Option<InputSet> {
        let mut set = 0;
        for column in expr.column_refs() {
            set |= 1 << owners.get(column)?;
        }
        Some(set)
    }
}

#[derive(Default)]
struct JoinGraphParts {
    inputs: Vec<LogicalPlan>,
    semi_joins: Vec<Join>,
    predicates: Vec<Expr>,
    tree: Option<Tree>,
    /// Something that must not be moved was met.
    is_hopeless: bool,
}

impl JoinGraphParts {
    fn flatten(&mut self, plan: &LogicalPlan) {
        let tree = self.visit(plan);
        self.tree = Some(tree);
    }

    fn visit(&mut self, plan: &LogicalPlan) -> Tree {
        match plan {
            LogicalPlan::Join(join) if is_plain_inner(join) => {
                let left = self.visit(&join.left);
                let right = self.visit(&join.right);
                self.add_predicates(join);
                Tree::Join(Box::new(left), Box::new(right))
            }
            LogicalPlan::Join(join) if is_movable_semi(join) => {
                let tree = self.visit(&join.left);
                let mut join = join.clone();
                join.left = Arc::new(LogicalPlan::default());
                self.semi_joins.push(join);
                Tree::Semi(self.semi_joins.len() - 1, Box::new(tree))
            }
            LogicalPlan::Projection(projection)
                if projection
                    .expr
                    .iter()
                    .all(|expr| matches!(expr, Expr::Column(_)))
                    && leads_to_join(&projection.input) =>
            {
                self.visit(&projection.input)
            }
            other => {
                self.inputs.push(other.clone());
                Tree::Input(self.inputs.len() - 1)
            }
        }
    }

    fn add_predicates(&mut self, join: &Join) {
        for (left, right) in &join.on {
            self.predicates.push(left.clone().eq(right.clone()));
        }
        if let Some(filter) = &join.filter {
            self.is_hopeless |= filter.is_volatile();
            self.predicates
                .extend(split_conjunction_owned(filter.clone()));
        }
    }

    fn into_graph(self) -> Option<JoinGraph> {
        let (inputs, renumbered) = in_canonical_order(self.inputs);
        let mut owners: HashMap<Column, usize> = HashMap::new();
        for (index, input) in inputs.iter().enumerate() {
            for column in input.schema().columns() {
                // Two inputs with columns of one name cannot be told apart.
                if owners.insert(column, index).is_some() {
                    return None;
                }
            }
        }
        let (semi_joins, semi_order) = semi_joins_of(self.semi_joins, &owners)?;
        let current = renumber(self.tree?, &renumbered, &semi_order);
        let mut classes = Classes::default();
        let mut conditions = Vec::new();
        for predicate in self.predicates {
            let set = JoinGraph::inputs_of(&owners, &predicate)?;
            match equality_sides(&predicate, &owners) {
                Some(sides) => classes.add(sides),
                None => conditions.push((set, predicate)),
            }
        }
        let classes = classes.finish();
        conditions.extend(classes.iter().flat_map(within_inputs));
        Some(JoinGraph {
            inputs,
            semi_joins,
            classes,
            conditions,
            current,
        })
    }
}

fn is_plain_inner(join: &Join) -> bool {
    join.join_type == JoinType::Inner && join.null_equality == NullEquality::NullEqualsNothing
}

fn is_movable_semi(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && !join.on.is_empty()
        && !join.filter.as_ref().is_some_and(Expr::is_volatile)
}

fn leads_to_join(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Join(join) => is_plain_inner(join) || is_movable_semi(join),
        LogicalPlan::Projection(projection) => {
            projection
                .expr
                .iter()
                .all(|expr| matches!(expr, Expr::Column(_)))
                && leads_to_join(&projection.input)
        }
        _ => false,
    }
}

/// Sorts inputs by the names of the tables their columns come from; returns the new number of each.
fn in_canonical_order(inputs: Vec<LogicalPlan>) -> (Vec<LogicalPlan>, Vec<usize>) {
    let key = |plan: &LogicalPlan| -> BTreeSet<String> {
        let schema = plan.schema();
        schema
            .iter()
            .map(|(q, f)| q.map_or_else(|| f.name().clone(), ToString::to_string))
            .collect()
    };
    let mut numbered: Vec<_> = inputs.into_iter().enumerate().collect();
    numbered.sort_by_cached_key(|(_, plan)| key(plan));
    let mut renumbered = vec![0; numbered.len()];
    for (new, (old, _)) in numbered.iter().enumerate() {
        renumbered[*old] = new;
    }
    (
        numbered.into_iter().map(|(_, plan)| plan).collect(),
        renumbered,
    )
}

/// Semi joins with the input each tests, in canonical order, and the new number of each.
fn semi_joins_of(
    found: Vec<Join>,
    owners: &HashMap<Column, usize>,
) -> Option<(Vec<SemiJoin>, Vec<usize>)> {
    let mut numbered = Vec::with_capacity(found.len());
    for (old, join) in found.into_iter().enumerate() {
        let right_schema = join.right.schema();
        let tested = join.on.iter().map(|(left, _)| left).chain(&join.filter);
        let columns = tested.flat_map(Expr::column_refs);
        let own = columns.filter(|column| !right_schema.has_column(column));
        let tested: Option<BTreeSet<usize>> = own.map(|c| owners.get(c).copied()).collect();
        let [input] = tested?.into_iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        let text = join
            .on
            .iter()
            .map(|(l, r)| format!("{l}={r}"))
            .collect::<Vec<_>>()
            .join(",");
        numbered.push((
            (input, join.join_type.to_string(), text),
            old,
            SemiJoin { join, input },
        ));
    }
    numbered.sort_by(|a, b| a.0.cmp(&b.0));
    let mut renumbered = vec![0; numbered.len()];
    for (new, (_, old, _)) in numbered.iter().enumerate() {
        renumbered[*old] = new;
    }
    Some((
        numbered.into_iter().map(|(_, _, semi)| semi).collect(),
        renumbered,
    ))
}

fn renumber(tree: Tree, inputs: &[usize], semi_joins: &[usize]) -> Tree {
    let inner = |tree: Box<Tree>| Box::new(renumber(*tree, inputs, semi_joins));
    match tree {
        Tree::Input(index) => Tree::Input(inputs[index]),
        Tree::Join(left, right) => Tree::Join(inner(left), inner(right)),
        Tree::Semi(index, tree) => Tree::Semi(semi_joins[index], inner(tree)),
    }
}

/// Both sides of an equality between expressions over one input each.
fn equality_sides(predicate: &Expr, owners: &HashMap<Column, usize>) -> Option<[(usize, Expr); 2]> {
    let Expr::BinaryExpr(BinaryExpr {
        left,
        op: Operator::Eq,
        right,
    }) = predicate
    else {
        return None;
    };
    let side = |expr: &Expr| {
        let set = JoinGraph::inputs_of(owners, expr)?;
        (set.count_ones() == 1).then(|| (set.trailing_zeros() as usize, expr.clone()))
    };
    let (left, right) = (side(left)?, side(right)?);
    (left.0 != right.0).then_some([left, right])
}

/// Expressions of one input that equal the same thing outside must equal each other.
fn within_inputs(class: &EqualityClass) -> Vec<(InputSet, Expr)> {
    let pairs = class.members.iter().zip(class.members.iter().skip(1));
    let within = pairs.filter(|((left, _), (right, _))| left == right);
    within
        .map(|((input, a), (_, b))| (1 << input, a.clone().eq(b.clone())))
        .collect()
}

/// Equality classes in the making.
#[derive(Default)]
struct Classes {
    classes: Vec<Vec<(usize, Expr)>>,
}

impl Classes {
    fn add(&mut self, sides: [(usize, Expr); 2]) {
        let mut joined = Vec::from(sides);
        let mut rest = Vec::with_capacity(self.classes.len() + 1);
        for class in self.classes.drain(..) {
            if class.iter().any(|member| joined.contains(member)) {
                joined.extend(class);
            } else {
                rest.push(class);
            }
        }
        rest.push(joined);
        self.classes = rest;
    }

    fn finish(mut self) -> Vec<EqualityClass> {
        for class in &mut self.classes {
            class.sort_by_cached_key(|(input, expr)| (*input, expr.to_string()));
            class.dedup();
        }
        self.classes.sort_by_cached_key(|class| {
            class
                .iter()
                .map(|(input, expr)| (*input, expr.to_string()))
                .collect::<Vec<_>>()
        });
        self.classes
            .into_iter()
            .map(|members| EqualityClass { members })
            .collect()
    }
}
