//! What is bought and sold through the portal: orders, invoices, quotes, and the payments that settle them.
