import { describe, expect, it } from '@jest/globals';
import { fileFormat } from '../../../lib/chat/media.js';
import { png } from '../../support/pictures.js';

describe('the format of a file', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n', 'PNG image', 'image/png'],
    ['\xff\xd8\xff\xe0', 'JPEG image', 'image/jpeg'],
    ['GIF87a', 'GIF image', 'image/gif'],
    ['GIF89a', 'GIF image', 'image/gif'],
    ['RIFF\x01\x02\x03\x04WEBPVP8 ', 'WebP image', 'image/webp'],
    ['RIFF\x01\x02\x03\x04WAVEfmt ', 'WAV audio', 'audio/wav'],
    ['ID3\x04\x00', 'MP3 audio', 'audio/mp3'],
    ['\xff\xfb\x90', 'MP3 audio', 'audio/mp3'],
    ['FORM\x00\x00\x01\x00AIFFCOMM', 'AIFF audio', 'audio/aiff'],
    ['\xff\xf1\x50', 'AAC audio', 'audio/aac'],
    ['OggS\x00\x02', 'Ogg audio', 'audio/ogg'],
    ['fLaC\x00\x00\x00\x22', 'FLAC audio', 'audio/flac'],
    ['\x00\x00\x00\x18ftypheic', 'HEIC image', 'image/heic'],
    ['\x00\x00\x00\x18ftypmif1', 'HEIC image', 'image/heic'],
    ['%PDF-1.7', 'PDF document', 'application/pdf'],
    ['\x7fELF', 'ELF program', null],
    ['PK\x03\x04', 'ZIP archive', null],
    ['SQLite format 3\0', 'SQLite database', null],
  ])('is known by its first bytes: %j is a %s', (start, name, mime) => {
    expect(fileFormat(Buffer.from(start, 'latin1'))).toMatchObject({ name, mime });
  });

  it.each([
    '',
    'GIF is a format',
    'RIFF of the week',
    ' %PDF-1.7',
    'SQLite format 3 is',
    'ID3 is a tag',
    'OggS is',
    'fLaC is',
    'the ftypheic',
  ])('is unknown for %j', (start) => {
    expect(fileFormat(Buffer.from(start, 'latin1'))).toBeNull();
  });

  it.each([
    ['a PNG', png(), false],
    ['the first 8 bytes of a PNG', png().subarray(0, 8), true],
    ['the beginning of a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), true],
    ['a PDF', Buffer.from('%PDF-1.7'), false],
    ['the first 5 bytes of a PDF', Buffer.from('%PDF-'), true],
    ['an MP3', Buffer.from('ID3\x04\0', 'latin1'), false],
    ['a program', Buffer.from('\x7fELF', 'latin1'), false],
  ])('says of %s whether its header is damaged', (_what, bytes, isDamaged) => {
    expect(fileFormat(bytes)).toMatchObject({ isDamaged });
  });
});
