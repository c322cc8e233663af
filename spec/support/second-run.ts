import { expect, jest } from '@jest/globals';

// Specs of the built program wait for terminals, servers and other programs, on machines that may be busy with
// something else. One that fails is run once more; its first error is printed, and `.ci/run` names it.
if (/[\\/]spec[\\/](?:e2e|servers)[\\/]/.test(expect.getState().testPath ?? ''))
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
