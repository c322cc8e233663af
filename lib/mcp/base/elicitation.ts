import type { ServerQuestion } from '../../chat/event.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { harmlessLine, harmlessText } from './harmless-text.js';

/** A question of a server to the user during a call. Its texts are not sanitised yet. */
export type Elicitation =
  | { readonly kind: 'form'; readonly message: string; readonly schema: JsonObject }
  /** The user visits an address; the server learns the outcome by itself. */
  | { readonly kind: 'url'; readonly message: string; readonly url: string };

/** A value that a form can hold. */
export type FormValue = string | number | boolean | readonly string[];

/** The user's answer. `cancel`: neither yes nor no. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, FormValue>> }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** Asks the user what this server wants to know. */
export type Elicit = (server: string, question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

/** An option. `value` is for the server, `title` for the user. */
export interface FormOption {
  readonly value: string;
  readonly title: string;
}

/** The type of a field. */
export type FieldKind =
  | {
      readonly kind: 'text';
      readonly initial: string | null;
      readonly least: number;
      readonly most: number;
      readonly format: string | null;
    }
  | {
      readonly kind: 'number';
      readonly initial: number | null;
      readonly least: number;
      readonly most: number;
      readonly isWhole: boolean;
    }
  | { readonly kind: 'yes-no'; readonly initial: boolean | null }
  | { readonly kind: 'one'; readonly options: readonly FormOption[]; readonly initial: string | null }
  | {
      readonly kind: 'several';
      readonly options: readonly FormOption[];
      readonly initial: readonly string[];
      readonly least: number;
      readonly most: number;
    };

/** A value that a server asks for. `name` is unchanged; the rest is sanitised. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly isRequired: boolean;
  readonly input: FieldKind;
}

/** A form with more fields, or options, is refused. */
const MOST_FIELDS = 32;
const MOST_OPTIONS = 200;

const LONGEST_TITLE = 80;
const LONGEST_ABOUT = 200;

/** The fields of a server's form; null if a required one has an unsupported type. */
export function formFields(schema: JsonObject): readonly FormField[] | null {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required: readonly JsonValue[] = Array.isArray(schema.required) ? schema.required : [];
  if (properties.length > MOST_FIELDS) return null;
  const fields: FormField[] = [];
  for (const [name, given] of properties) {
    const isRequired = required.includes(name);
    const input = isJsonObject(given) ? kindOf(given) : null;
    if (input === null && isRequired) return null;
    if (input === null || !isJsonObject(given)) continue;
    fields.push({
      name,
      title: harmlessLine(given.title, LONGEST_TITLE) || harmlessLine(name, LONGEST_TITLE),
      about: harmlessLine(given.description, LONGEST_ABOUT),
      isRequired,
      input,
    });
  }
  return fields;
}

function kindOf(schema: JsonObject): FieldKind | null {
  switch (schema.type) {
    case 'string':
      return optionsIn(schema) === null ? textKind(schema) : oneKind(schema);
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        initial: numberOr(schema.default, null),
        least: numberOr(schema.minimum, -Infinity),
        most: numberOr(schema.maximum, Infinity),
        isWhole: schema.type === 'integer',
      };
    case 'boolean':
      return { kind: 'yes-no', initial: typeof schema.default === 'boolean' ? schema.default : null };
    case 'array':
      return severalKind(schema);
    default:
      return null;
  }
}

const textKind = (schema: JsonObject): FieldKind => ({
  kind: 'text',
  initial: typeof schema.default === 'string' ? harmlessLine(schema.default, LONGEST_ABOUT) : null,
  least: numberOr(schema.minLength, 0),
  most: numberOr(schema.maxLength, Infinity),
  format: typeof schema.format === 'string' ? schema.format : null,
});

function oneKind(schema: JsonObject): FieldKind | null {
  const options = optionsIn(schema) ?? [];
  if (options.length === 0 || options.length > MOST_OPTIONS) return null;
  const initial = options.find(({ value }) => value === schema.default)?.value ?? null;
  return { kind: 'one', options, initial };
}

function severalKind(schema: JsonObject): FieldKind | null {
  const options = isJsonObject(schema.items) ? optionsIn(schema.items) : null;
  if (options === null || options.length > MOST_OPTIONS) return null;
  const chosen: readonly JsonValue[] = Array.isArray(schema.default) ? schema.default : [];
  return {
    kind: 'several',
    options,
    initial: options.map(({ value }) => value).filter((value) => chosen.includes(value)),
    least: numberOr(schema.minItems, 0),
    most: numberOr(schema.maxItems, Infinity),
  };
}

/** The options, in any format of the protocol's revisions; null if any value is allowed. */
function optionsIn({ enum: values, enumNames, oneOf, anyOf }: JsonObject): readonly FormOption[] | null {
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  if (Array.isArray(titled))
    return titled.flatMap((one) =>
      isJsonObject(one) && typeof one.const === 'string' ? [option(one.const, one.title)] : [],
    );
  if (!Array.isArray(values)) return null;
  const names: readonly JsonValue[] = Array.isArray(enumNames) ? enumNames : [];
  return values.flatMap((value, at) => (typeof value === 'string' ? [option(value, names[at])] : []));
}

const option = (value: string, title: unknown): FormOption => ({
  value,
  title: harmlessLine(title, LONGEST_TITLE) || harmlessLine(value, LONGEST_TITLE) || '(empty)',
});

const numberOr = <Other>(value: unknown, other: Other): number | Other => (typeof value === 'number' ? value : other);

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

/** How much of a question is reported, in characters. */
const LONGEST_MESSAGE = 2048;
const LONGEST_ADDRESS = 2048;
const LONGEST_NAME = 80;

/** A server's question and its outcome, for events: sanitised, and without the answer. */
export function serverQuestion(
  server: string,
  question: Elicitation,
  action: ElicitationAnswer['action'],
): ServerQuestion {
  const asked = { server, message: harmlessText(question.message, LONGEST_MESSAGE), action };
  if (question.kind === 'url') return { ...asked, url: harmlessLine(question.url, LONGEST_ADDRESS) };
  const { properties } = question.schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return { ...asked, fields: names.slice(0, MOST_FIELDS).map((name) => harmlessLine(name, LONGEST_NAME)) };
}
