//! Aggregates of moving window frames, without subtraction.
//!
//! DataFusion moves a frame by taking out of a total what leaves it. Of floats that is wrong: infinity minus infinity is NaN, and
//! 1e20 + 1 - 1e20 is 0. Here the values of a frame are a queue of two stacks (as in K. Tangwongsan, M. Hirzel, S. Schneider,
//! *Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time*, DEBS 2017, §3): rows come in at the back, which has a running
//! total, and leave from the front, where each row has the total of itself and all rows of the front behind it. When the front is
//! empty, the rows of the back are turned over. So a row is taken into a total at most twice, and nothing is ever taken out of one,
//! whatever the length of the frame. Sums of integers and decimals are exact, and go on to be moved by subtraction.

mod floats;
mod merged;
mod queue;

pub(super) use floats::float_frame;
pub(super) use merged::MergedFrame;
