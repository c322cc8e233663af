import type { ChatRequest } from '../../../chat/request.js';

/** Whether the answer is asked for in pieces; where a server refuses that, it arrives whole. */
export const wantsStream = ({ facts }: ChatRequest): boolean => facts?.takes?.stream !== false;
