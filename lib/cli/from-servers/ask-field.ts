import { checkbox } from '@inquirer/prompts';
import { unreachable } from '../../errors.js';
import {
  countError,
  type FieldKind,
  type FormField,
  type FormOption,
  type FormValue,
  numberError,
  textError,
} from '../../mcp/base/elicitation.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { askQuestion, type PromptStreams } from '../terminal/ask-question.js';
import { input, select } from '../terminal/inquirer.js';

/** Asks for one value; null if the user leaves it out. */
export async function askField(
  { input, isRequired }: FormField,
  message: string,
  streams: PromptStreams,
): Promise<FormValue | null> {
  switch (input.kind) {
    case 'text': {
      const text = await line(message, input.initial ?? '', streams, (typed) =>
        typed === '' && !isRequired ? null : textError(typed, input),
      );
      return text === '' && !isRequired ? null : text;
    }
    case 'number': {
      const initial = input.initial === null ? '' : String(input.initial);
      const text = await line(message, initial, streams, (typed) =>
        typed === '' && !isRequired ? null : numberError(typed, input),
      );
      return text === '' ? null : Number(text);
    }
    case 'yes-no': {
      const options = [
        { value: 'yes', title: 'yes' },
        { value: 'no', title: 'no' },
      ];
      const initial = input.initial === null ? null : input.initial ? 'yes' : 'no';
      const chosen = await one(message, options, initial, isRequired, streams);
      return chosen === null ? null : chosen === 'yes';
    }
    case 'one':
      return await one(message, input.options, input.initial, isRequired, streams);
    case 'several':
      return await several(message, input, streams);
    default:
      return unreachable(input);
  }
}

async function line(
  message: string,
  initial: string,
  streams: PromptStreams,
  errorOf: (typed: string) => string | null,
): Promise<string> {
  // Shown as an answer that can be changed: what is sent is what is seen.
  const asked = {
    message,
    default: initial,
    prefill: 'editable',
    validate: (typed: string) => errorOf(typed) ?? true,
  } as const;
  return await askQuestion((context) => input(asked, context), streams);
}

async function one(
  message: string,
  options: readonly FormOption[],
  initial: string | null,
  isRequired: boolean,
  streams: PromptStreams,
): Promise<string | null> {
  const choices = options.map(({ title }, at) => ({ value: at, name: visibleLine(title) }));
  // By their places: a value may be any text.
  const none = { value: -1, name: 'leave it out' };
  const asked = {
    message,
    choices: isRequired ? choices : [...choices, none],
    default: initial === null ? 0 : options.findIndex(({ value }) => value === initial),
  };
  const at = await askQuestion((context) => select<number>(asked, context), streams);
  return options[at]?.value ?? null;
}

async function several(
  message: string,
  field: Extract<FieldKind, { kind: 'several' }>,
  streams: PromptStreams,
): Promise<readonly string[]> {
  const choices = field.options.map(({ value, title }, at) => ({
    value: at,
    name: visibleLine(title),
    checked: field.initial.includes(value),
  }));
  const validate = (chosen: readonly unknown[]): string | boolean => countError(chosen.length, field) ?? true;
  const places = await askQuestion((context) => checkbox<number>({ message, choices, validate }, context), streams);
  return places.flatMap((at) => field.options[at]?.value ?? []);
}
