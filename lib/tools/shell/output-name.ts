import { randomBytes } from 'node:crypto';

/** A unique file name for the output of one command, without the stream's extension. */
export function outputName(): string {
  return `${new Date().toISOString().replace(/[:.]/g, '-')}-${randomBytes(3).toString('hex')}`;
}

/** Matches exactly the names made by `outputName`, followed by `.stdout`, `.stderr`, or the ending of a file that a tool gave back. */
export const OUTPUTS = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f]{6}\.(?:stdout|stderr|[a-z0-9]{1,5})$/;
