//! Nodes: each with the columns of its schema, in the same order.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    Distinct, Expr, Filter, Limit, LogicalPlan, Projection, Sort as PlannedSort, Subquery, Union,
    Values,
};
use quire_exec::plan::{Expression, Plan, PlanColumn, PlanNode, PlanSortKey, SortNode, ValueKind};
use quire_functions::FloatKey;

use super::untranslated::Untranslated;
use crate::expression::{ExpressionTranslator, OuterScope, Slots};
use crate::optimize::shared_place;

/// Translates the nodes of one statement.
pub(super) struct RelationTranslator<'a> {
    pub(super) options: &'a Arc<ConfigOptions>,
    pub(super) parameter_count: usize,
    /// Plans of subqueries that are evaluated once, before the statement's own.
    pub(super) values: Vec<Plan>,
    /// Plans that several places read, with their ids, by what [`shared_place`] says of the places.
    pub(super) shared: HashMap<usize, (usize, Arc<Plan>)>,
}

/// The rows that an expression sees.
#[derive(Clone, Copy)]
pub(super) struct VisibleColumns<'a> {
    pub(super) schema: &'a DFSchema,
    pub(super) columns: &'a [PlanColumn],
}

impl RelationTranslator<'_> {
    pub(super) fn relation(&mut self, plan: &LogicalPlan) -> Result<Plan, Untranslated> {
        match plan {
            LogicalPlan::Projection(projection) => self.projection(projection),
            LogicalPlan::Filter(filter) => self.filter(filter),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Sort(sort) => self.sort(sort),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::EmptyRelation(empty) => Ok(empty_rows(
                &empty.schema,
                usize::from(empty.produce_one_row),
            )),
            LogicalPlan::SubqueryAlias(alias) => self.relation(&alias.input),
            LogicalPlan::Repartition(repartition) => self.relation(&repartition.input),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Values(values) => self.rows(values),
            LogicalPlan::Distinct(Distinct::All(input)) => Ok(self.relation(input)?.distinct()),
            other => match shared_place(other) {
                Some((address, subplan)) => self.shared(address, subplan),
                None => Err(Untranslated::Node(name_of(other))),
            },
        }
    }

    /// A place that reads what others read, too. The plan is translated at the first of them, so that the values which it needs are before those that
    /// need it.
    fn shared(&mut self, address: usize, subplan: &LogicalPlan) -> Result<Plan, Untranslated> {
        if let Some((id, plan)) = self.shared.get(&address) {
            return Ok(Plan::shared(*id, Arc::clone(plan)));
        }
        let plan = Arc::new(self.relation(subplan)?);
        let id = self.shared.len() + 1;
        self.shared.insert(address, (id, Arc::clone(&plan)));
        Ok(Plan::shared(id, plan))
    }

    /// An expression over rows of an input.
    pub(super) fn expression(
        &mut self,
        expr: &Expr,
        seen: VisibleColumns<'_>,
    ) -> Result<Expression, Untranslated> {
        self.translate(expr, seen.schema, Some(seen.columns), &mut Slots::All)
    }

    /// The same of what is compared with others, by the engine's own order of floats.
    pub(super) fn compared(
        &mut self,
        expr: &Expr,
        seen: VisibleColumns<'_>,
    ) -> Result<Expression, Untranslated> {
        self.expression(FloatKey::argument_of(expr).unwrap_or(expr), seen)
    }

    /// The same, over columns that are asked for only with it.
    pub(super) fn translate(
        &mut self,
        expr: &Expr,
        schema: &DFSchema,
        columns: Option<&[PlanColumn]>,
        slots: &mut Slots,
    ) -> Result<Expression, Untranslated> {
        let options = self.options;
        let mut subqueries = Subqueries {
            relations: self,
            refused: None,
        };
        let mut translator = ExpressionTranslator {
            schema,
            slots,
            options,
            columns,
            aggregates: None,
            beyond: Some(&mut subqueries),
        };
        let expression = translator.node(expr);
        let refused = subqueries.refused.take();
        expression.ok_or_else(|| refused.unwrap_or_else(|| untranslated(expr)))
    }

    fn projection(&mut self, projection: &Projection) -> Result<Plan, Untranslated> {
        let input = self.relation(&projection.input)?;
        let mut outputs = Vec::with_capacity(projection.expr.len());
        for (expr, field) in projection.expr.iter().zip(projection.schema.fields()) {
            let seen = VisibleColumns {
                schema: projection.input.schema(),
                columns: &input.columns,
            };
            let expression = self.expression(expr, seen)?;
            let column = PlanColumn::of(field.name(), field.data_type().clone(), &expression);
            outputs.push((column, expression));
        }
        Ok(input.project(outputs))
    }

    /// What a scan below has as its own condition, which it takes at its word, is not tested again.
    fn filter(&mut self, filter: &Filter) -> Result<Plan, Untranslated> {
        let input = self.relation(&filter.input)?;
        let known: &[Expr] = match filter.input.as_ref() {
            LogicalPlan::TableScan(scan) => &scan.filters,
            _ => &[],
        };
        let conditions = split_conjunction(&filter.predicate).into_iter();
        let conditions = conditions.filter(|condition| !known.contains(condition));
        let Some(condition) = conjunction(conditions.cloned()) else {
            return Ok(input);
        };
        let seen = VisibleColumns {
            schema: filter.input.schema(),
            columns: &input.columns,
        };
        let condition = self.expression(&condition, seen)?;
        Ok(input.filter(condition))
    }

    fn sort(&mut self, sort: &PlannedSort) -> Result<Plan, Untranslated> {
        let input = self.relation(&sort.input)?;
        let mut keys = Vec::with_capacity(sort.expr.len());
        for key in &sort.expr {
            let seen = VisibleColumns {
                schema: sort.input.schema(),
                columns: &input.columns,
            };
            keys.push(PlanSortKey {
                expression: self.compared(&key.expr, seen)?,
                is_descending: !key.asc,
                nulls_first: key.nulls_first,
            });
        }
        let fetch = sort.fetch.map(|fetch| fetch as u64);
        Ok(Plan::sort(SortNode { input, keys, fetch }))
    }

    fn limit(&mut self, limit: &Limit) -> Result<Plan, Untranslated> {
        let none = DFSchema::empty();
        let mut count = |expr: &Option<Box<Expr>>| match expr {
            None => Ok(None),
            Some(expr) => {
                let count = self.translate(expr, &none, None, &mut Slots::All)?;
                match count.kind() {
                    ValueKind::Integer => Ok(Some(count)),
                    // NULL of no type is no limit.
                    _ if count.is_constant() => Ok(None),
                    _ => Err(untranslated(expr)),
                }
            }
        };
        let (skip, fetch) = (count(&limit.skip)?, count(&limit.fetch)?);
        Ok(self.relation(&limit.input)?.limit(skip, fetch))
    }

    fn union(&mut self, union: &Union) -> Result<Plan, Untranslated> {
        let inputs = union.inputs.iter().map(|input| self.relation(input));
        let mut plan = Plan::union_all(inputs.collect::<Result<_, _>>()?);
        for (column, field) in plan.columns.iter_mut().zip(union.schema.fields()) {
            column.name.clone_from(field.name());
        }
        Ok(plan)
    }

    fn rows(&mut self, values: &Values) -> Result<Plan, Untranslated> {
        let none = DFSchema::empty();
        let mut rows = Vec::with_capacity(values.values.len());
        for row in &values.values {
            let row = row
                .iter()
                .map(|expr| self.translate(expr, &none, None, &mut Slots::All));
            rows.push(row.collect::<Result<Vec<_>, _>>()?);
        }
        let mut plan = empty_rows(&values.schema, 0);
        for (slot, column) in plan.columns.iter_mut().enumerate() {
            let mut same = rows.iter().filter_map(|row| row.get(slot));
            column.nullable = same.any(Expression::may_be_null);
        }
        plan.node = PlanNode::Values(rows);
        Ok(plan)
    }
}

/// Rows with NULL in every column.
fn empty_rows(schema: &DFSchema, count: usize) -> Plan {
    let column = |field: &Arc<datafusion::arrow::datatypes::Field>| PlanColumn {
        name: field.name().clone(),
        data_type: field.data_type().clone(),
        nullable: true,
    };
    let columns: Vec<PlanColumn> = schema.fields().iter().map(column).collect();
    let null = |column: &PlanColumn| Expression::Null(column.kind().unwrap_or(ValueKind::Boolean));
    let row: Vec<Expression> = columns.iter().map(null).collect();
    Plan {
        node: PlanNode::Values(vec![row; count]),
        columns,
    }
}

pub(super) fn untranslated(expr: &Expr) -> Untranslated {
    Untranslated::Expression(expr.to_string())
}

/// What a node is called.
fn name_of(plan: &LogicalPlan) -> String {
    let text = plan.display().to_string();
    let end = text.find([':', ' ', '(']).unwrap_or(text.len());
    text[..end].to_lowercase()
}

/// Subqueries with one value, which do not depend on the rows around them.
struct Subqueries<'r, 'a> {
    relations: &'r mut RelationTranslator<'a>,
    refused: Option<Untranslated>,
}

impl OuterScope for Subqueries<'_, '_> {
    fn subquery(&mut self, subquery: &Subquery) -> Option<Expression> {
        if !subquery.outer_ref_columns.is_empty() {
            self.refused = Some(Untranslated::Node("correlated subquery".to_owned()));
            return None;
        }
        match self.relations.relation(&subquery.subquery) {
            Ok(plan) => {
                let kind = plan.columns.first()?.kind()?;
                let relations = &mut self.relations;
                let number = relations.parameter_count + relations.values.len();
                relations.values.push(plan);
                Some(Expression::Parameter { number, kind })
            }
            Err(refused) => {
                self.refused = Some(refused);
                None
            }
        }
    }

    fn refuse(&mut self, expr: &Expr) {
        self.refused.get_or_insert_with(|| untranslated(expr));
    }
}
