import type { FieldKind } from './form-fields.js';

type Kind<Name extends FieldKind['kind']> = Extract<FieldKind, { kind: Name }>;

/** What is wrong with a text for a field, as a sentence; null for nothing. */
export function textError(text: string, { least, most, format }: Kind<'text'>): string | null {
  const { length } = [...text];
  if (length < least) return `It needs at least ${least} characters.`;
  if (length > most) return `It may have at most ${most} characters.`;
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(text) ? null : 'Write an address such as name@example.org.';
    case 'uri':
      return URL.canParse(text) ? null : 'Write an address such as https://example.org/page.';
    case 'date':
      return isDate(text) ? null : 'Write a date such as 2026-07-28.';
    case 'date-time':
      return isDate(text.slice(0, 10)) && /^.{10}T\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text))
        ? null
        : 'Write a time such as 2026-07-28T18:00:00Z.';
    default:
      return null;
  }
}

function isDate(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The same for a number. */
export function numberError(text: string, { least, most, isWhole }: Kind<'number'>): string | null {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) return 'Write a number.';
  if (isWhole && !Number.isInteger(number)) return 'Write a whole number.';
  if (number < least) return `It must be at least ${least}.`;
  return number > most ? `It must be at most ${most}.` : null;
}

/** The same for how many were chosen. */
export function countError(count: number, { least, most }: Kind<'several'>): string | null {
  if (count < least) return `Choose at least ${least}.`;
  return count > most ? `Choose at most ${most}.` : null;
}
