import type { ServerQuestion } from '../../chat/event.js';
import { isJsonObject } from '../../chat/json.js';
import { harmlessLine, harmlessText } from '../base/harmless-text.js';
import type { Elicitation, ElicitationAnswer } from './elicitation.js';

/** How much of a question is reported, in characters and fields. */
const LONGEST_MESSAGE = 2048;
const LONGEST_ADDRESS = 2048;
const LONGEST_NAME = 80;
const MOST_FIELDS = 32;

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
