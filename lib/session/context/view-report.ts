import type { ViewReport } from '../../chat/event.js';
import { estimateParts } from '../../chat/media.js';
import { isPart, type NewMessage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';

type SentMessage = ChatRequest['messages'][number];

/** A request, and what it was made from. */
export interface ReportedRequest {
  readonly request: ChatRequest;
  /** The system text without the summary. */
  readonly system: readonly string[];
  /** How many of its messages, the last ones, are of the conversation. A summary may be before them. */
  readonly messages: number;
  /** How many messages of the conversation are not in it. */
  readonly left_out: number;
}

/** The size of a request in characters, as its server would get it. */
export type Weigh = (request: ChatRequest, signal: AbortSignal) => Promise<number>;

/** Vendors get no request without a message. */
const QUESTION: NewMessage = { role: 'user', content: [{ type: 'text', text: '?' }], cwd: '' };

/** What takes how much of a request: by how much it is larger with each part than without. */
export async function viewReport(
  { request: sent, system, messages: count, left_out }: ReportedRequest,
  weigh: Weigh,
  signal: AbortSignal,
): Promise<ViewReport> {
  const files = estimateParts(sent.messages.flatMap(({ content }) => content.filter(isFile)));
  const request = { ...sent, messages: sent.messages.map(withoutFiles) };
  const summary = request.messages.slice(0, request.messages.length - count);
  const sizeOf = (part: Partial<ChatRequest>): Promise<number> => weigh({ ...request, ...part }, signal);
  const head = await sizeOf({ system, messages: [QUESTION] });
  const before = await sizeOf({ messages: [...summary, QUESTION] });
  const whole = count === 0 ? before : await sizeOf({});
  const isRecalling = request.messages.some(({ content }) => content.some(isRecalled));
  const unasked = isRecalling ? await sizeOf({ messages: request.messages.map(withoutRecalled) }) : whole;
  const tokens = (from: number, to: number): number => Math.round(to / 4) - Math.round(from / 4);
  return {
    head: tokens(0, head),
    block: tokens(head, before),
    tail: tokens(before, unasked) + files,
    recalled: tokens(unasked, whole),
    left_out,
  };
}

/** The size of a request of which no vendor makes anything, for a model without a known one. */
export async function plainSize({ system, tools, messages, schema }: ChatRequest): Promise<number> {
  return JSON.stringify([system, tools, messages.map(({ role, content }) => ({ role, content })), schema]).length;
}

const isRecalled = (part: NewMessage['content'][number]): boolean =>
  part.type === 'text' && part.recalled !== undefined;

const withoutRecalled = (message: SentMessage): SentMessage => ({
  ...message,
  content: message.content.filter((part) => !isRecalled(part)),
});

const isFile = (part: NewMessage['content'][number]): boolean => isPart('image')(part) || isPart('document')(part);

/** A file counts as a fixed number of tokens: its bytes are not read as text. */
const withoutFiles = (message: SentMessage): SentMessage =>
  message.content.some(isFile) ? { ...message, content: message.content.filter((part) => !isFile(part)) } : message;
