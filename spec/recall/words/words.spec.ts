import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { askedWords, placedWords, WantedWords, words } from '../../../lib/recall/words/words.js';

describe('the words of a text', () => {
  it.each([
    ['painting paints painted', 'paint paint paint'],
    ["Caroline's dog didn't eat it", 'carolin dog eat'],
    ['getUserProfile', 'getuserprofile user profil'],
    ['HTTPRequestParser', 'httprequestparser http request parser'],
    ['max_input_tokens', 'max_input_tokens max input token'],
    ['see hi.js', 'hi.js hi js'],
    ['v2.3.1', 'v2.3.1 v2 3 1'],
    ['Zürich', 'zurich zuerich'],
    ['Häuser', 'hauser haeuser haus'],
    ['Müttern', 'muttern muettern mutter mutt'],
    ['Hauser', 'hauser'],
    ['cafe\u0301', 'caf'],
    ['ＦＵＬＬ', 'full'],
    ['数据库', '数据 据库 库'],
    ['猫', '猫'],
    ['三月五号', '三月 月五 五号 号 3月 5日'],
    ['３月５日', '3 月 5 日 3月 5日'],
    ['一个', '一个 个'],
    ['資料庫', '资料 料库 库'],
    ['臺灣', '台湾 湾'],
    ['図書館 图书馆', '图书 书馆 馆 图书 书馆 馆'],
    ['我家cat', '我家 家 cat'],
    ['книги книга', 'книг книг'],
    ['3eb6f2c9a01d44', '3eb6f2c9a01d44 3eb6f2c eb 01 44'],
    ["l'eau de la mer", 'eau mer'],
    ['what did you say about the', ''],
  ])('in %j are %j', (text, expected) => {
    expect(words(text).join(' ')).toBe(expected);
  });

  it('leave out words longer than any name', () => {
    expect(words(`key ${'ab'.repeat(40)}`)).toEqual(['key']);
  });

  it('are the same in any composition of accents and in any case', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aeouäöüéñçøßÅ ') }), (text) => {
        expect(words(text.normalize('NFD'))).toEqual(words(text.normalize('NFC')));
      }),
    );
  });

  it('are the same with their positions', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect([...placedWords(text)].flatMap((placed) => placed.words)).toEqual(words(text));
      }),
    );
  });

  it.each([
    ['我们的数据库在哪里？', '数据 据库'],
    ['我的猫呢', '猫'],
    ['阿杰在哪里学了攀岩？', '阿杰 学 攀岩'],
    ['颱風那天去了哪裡', '台风 那天'],
    ['会議はいつ', '会议'],
    ['getUserName 在哪里', 'getusername user nam'],
    ['강아지 이름', '강아 아지 이름'],
  ])('of the question %j are %j', (text, expected) => {
    expect(
      askedWords(text)
        .map(({ word }) => word)
        .join(' '),
    ).toBe(expected);
  });

  it('of a question are among those of the same text', () => {
    const piece = fc.constantFrom(...'我们的猫叫什么名字數據庫会議は木曜日กินส้มตำ강아지 cat3-.é');
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (text) => {
          const own = words(text).join(' ');
          // A single character is the beginning of a pair.
          for (const { word } of askedWords(text)) expect(own).toContain(word);
        },
      ),
    );
  });

  it('are found among others if only some are wanted', () => {
    const piece = fc.constantFrom(
      ...[
        'Painting',
        'paints',
        "don't",
        'the',
        'I',
        'x',
        'hi.js',
        'user_id',
        'getUserName',
        'Zürich',
        'e\u0301',
        '数据库',
        '😀',
        '𝒜b',
      ],
      ...['.', '-', "'", '’', ' ', '\n', '42', 'ab1', 'ABC', 'q'.repeat(64), 'q'.repeat(65)],
    );
    const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, texts, (text, other) => {
        const wanted = [...new Set(words(other))];
        const found: number[] = [];
        new WantedWords(wanted).each(text, (number) => found.push(number));
        expect(found).toEqual(words(text).map((word) => wanted.indexOf(word)));
      }),
      { numRuns: 500 },
    );
  });
});
