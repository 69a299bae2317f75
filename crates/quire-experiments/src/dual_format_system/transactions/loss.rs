//! What is lost beside rows, and what the paper has lost.

use quire_workload::workloads::sysbench::SysbenchTest;

use super::grid::{StoredPages, TransactionPoint};

/// Points of one figure.
pub(super) struct TransactionPoints<'a>(pub(super) &'a [TransactionPoint]);

impl TransactionPoints<'_> {
    pub(super) fn of(
        &self,
        pages: StoredPages,
        test: SysbenchTest,
        clients: u32,
    ) -> Option<&TransactionPoint> {
        let mut points = self.0.iter();
        points.find(|one| one.pages == pages && one.test == test && one.clients == clients)
    }

    /// Per cent of the transactions of rows that are lost with as many clients.
    pub(super) fn loss_percent(
        &self,
        pages: StoredPages,
        test: SysbenchTest,
        clients: u32,
    ) -> Option<f64> {
        let base = match pages {
            StoredPages::Converted(_) => StoredPages::CONVERTED[0],
            StoredPages::Compressed(_) => StoredPages::COMPRESSED[0],
        };
        let base = self.of(base, test, clients)?;
        let point = self.of(pages, test, clients)?;
        (base.tps > 0.0).then(|| (1.0 - point.tps / base.tps) * 100.0)
    }

    /// The same, the mean over all numbers of clients.
    pub(super) fn mean_loss_percent(
        &self,
        pages: StoredPages,
        test: SysbenchTest,
        clients: &[u32],
    ) -> Option<f64> {
        let losses = clients.iter();
        let losses = losses.map(|&clients| self.loss_percent(pages, test, clients));
        let losses: Vec<f64> = losses.collect::<Option<_>>()?;
        (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64)
    }
}

/// Losses in per cent that the paper's text names (§V-B), of the scenarios behind rows.
pub(super) fn printed_losses(test: SysbenchTest) -> [Option<f64>; 5] {
    match test {
        SysbenchTest::WriteOnly => [5.2, 8.1, 11.2, 7.0, 9.9].map(Some),
        SysbenchTest::ReadOnly => [1.5, 3.4, 3.9, 3.3, 3.7].map(Some),
        SysbenchTest::ReadWrite => [None, None, Some(8.9), Some(5.8), None],
        SysbenchTest::PointSelect => [None; 5],
    }
}
