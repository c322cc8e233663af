/** What the question before a call is asked with. Loaded when one is asked. */
export { input } from '../terminal/inquirer.js';
export { approvalPrompt } from './approval-prompt.js';
