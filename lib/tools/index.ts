import { bash } from './bash.js';
import type { Tool } from './common/tool.js';
import { editFile } from './edit-file.js';
import { listFiles } from './list-files.js';
import { readFile } from './read-file.js';
import { recall } from './recall.js';
import { remember } from './remember.js';
import { writeFile } from './write-file.js';

export { commandEnvironment } from '../permission/environment.js';
export type { Permissions } from '../permission/rules/rules.js';
export { describeCall } from './common/tool.js';
export { createToolRunner, type ToolRunnerOptions } from './dispatch/dispatcher.js';

/** All tools, in the order in which they are offered to the model. */
export const tools: readonly Tool[] = [bash, listFiles, readFile, writeFile, editFile, recall, remember];
