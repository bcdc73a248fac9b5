//! An invoice as it was typed into a form: kept with every fault beside its field, until there is none.

use std::str::FromStr;

use domain::portal::{InvoiceLifetime, InvoiceNote, TextError};
use merchant::NewInvoice;

use super::invoices::InvoiceListWords;
use crate::fields::Fields;

/// A field as it was typed, and what is wrong with it.
#[derive(Default)]
pub(crate) struct Field {
    pub(crate) typed: String,
    pub(crate) error: Option<&'static str>,
}

/// An invoice as it was typed.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) label: Field,
    pub(crate) amount: Field,
    pub(crate) note: Field,
    pub(crate) external_id: Field,
    pub(crate) lifetime: Field,
}

impl Draft {
    /// Takes what was typed; the invoice, if nothing is wrong with it.
    pub(crate) fn read(fields: &Fields, w: &'static InvoiceListWords) -> (Self, Option<NewInvoice>) {
        let mut draft = Self::default();
        let label = read(&mut draft.label, fields.text("customerLabel"), |typed| text(typed, w));
        let amount = read(&mut draft.amount, fields.text("amountIdr"), |typed| {
            typed.parse::<u64>().ok().and_then(|rupiah| rupiah.try_into().ok()).ok_or(w.bad_amount)
        });
        let note: Option<InvoiceNote> = read(&mut draft.note, fields.text("note"), |typed| text(typed, w));
        let external_id = read(&mut draft.external_id, fields.text("externalId"), |typed| match typed {
            "" => Ok(None),
            typed => text(typed, w).map(Some),
        });
        let lifetime = read(&mut draft.lifetime, fields.text("expiresInMinutes"), |typed| match typed {
            "" => Ok(InvoiceLifetime::default()),
            typed => typed.parse::<u64>().ok().and_then(|count| count.try_into().ok()).ok_or(w.bad_lifetime),
        });
        let invoice = (|| {
            Some(NewInvoice {
                customer_label: label?,
                amount: amount?,
                note: note?,
                external_id: external_id?,
                lifetime: lifetime?,
            })
        })();
        (draft, invoice)
    }

    pub(crate) fn has_error(&self) -> bool {
        let Self { label, amount, note, external_id, lifetime } = self;
        [label, amount, note, external_id, lifetime].iter().any(|field| field.error.is_some())
    }
}

/// Keeps what was typed, and gives what it means.
fn read<T>(
    field: &mut Field,
    typed: &str,
    meaning: impl FnOnce(&str) -> Result<T, &'static str>,
) -> Option<T> {
    let read = meaning(typed);
    field.typed = typed.to_owned();
    field.error = read.as_ref().err().copied();
    read.ok()
}

/// A text that is fit to be shown.
fn text<T: FromStr<Err = TextError>>(typed: &str, w: &'static InvoiceListWords) -> Result<T, &'static str> {
    typed.parse().map_err(|error| match error {
        TextError::Empty => w.required,
        TextError::TooLong { .. } => w.too_long,
        TextError::Control => w.control,
        TextError::Space => w.space,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    fn draft(body: &str) -> (Draft, Option<NewInvoice>) {
        Draft::read(&Fields::read(body.as_bytes()), InvoiceListWords::of(Language::English))
    }

    #[test]
    fn what_was_typed_is_an_invoice_or_every_fault_is_named() {
        let (_, invoice) = draft("customerLabel=Budi&amountIdr=150000&note=&externalId=&expiresInMinutes=60");
        let invoice = invoice.unwrap();
        assert_eq!((invoice.customer_label.as_str(), invoice.amount.get()), ("Budi", 150_000));
        assert_eq!((invoice.external_id, invoice.lifetime.millis()), (None, 3_600_000));
        let (draft, invoice) = draft("customerLabel=+&amountIdr=1.500&externalId=a+b&expiresInMinutes=1");
        assert!(invoice.is_none() && draft.has_error());
        let w = InvoiceListWords::of(Language::English);
        assert_eq!(draft.label.error, Some(w.required));
        assert_eq!((draft.amount.error, draft.amount.typed.as_str()), (Some(w.bad_amount), "1.500"));
        assert_eq!((draft.external_id.error, draft.note.error), (Some(w.space), None));
        assert_eq!(draft.lifetime.error, Some(w.bad_lifetime));
    }
}
