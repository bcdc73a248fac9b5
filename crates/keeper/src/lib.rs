//! The keeper: lets validators out of jail when their time is over, watches who misses turns or signs twice, and reports or
//! slashes them.
