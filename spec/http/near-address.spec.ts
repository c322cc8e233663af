import { describe, expect, it } from '@jest/globals';
import { isNear } from '../../lib/http/address.js';

describe('an address', () => {
  it.each([
    'http://localhost:11434',
    'http://127.0.0.1:1/v1',
    'http://192.168.1.20',
    'http://172.20.0.2',
    'http://box.local',
    'http://ollama',
    'http://[::1]:11434',
    'http://[fe80::1]',
    'http://[fd00::5]/v1',
    'http://[::ffff:127.0.0.1]',
  ])('%s is near', (address) => {
    expect(isNear(address)).toBe(true);
  });

  it.each([
    'https://api.openai.com',
    'http://8.8.8.8',
    'http://172.32.0.1',
    'http://[2001:db8::1]',
    'http://[::ffff:8.8.8.8]',
  ])('%s is not', (address) => {
    expect(isNear(address)).toBe(false);
  });
});
