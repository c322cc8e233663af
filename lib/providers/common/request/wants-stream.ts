import type { ChatRequest } from '../../../chat/request.js';

/** Whether to request a stream. A server that refuses streaming sends the whole answer at once. */
export const wantsStream = ({ facts }: ChatRequest): boolean => facts?.takes?.stream !== false;
