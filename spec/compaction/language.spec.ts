import { describe, expect, it } from '@jest/globals';
import { languageOf } from '../../lib/compaction/prompt.js';
import { Log } from '../support/log.js';

const written = async (...texts: readonly string[]): Promise<string | null> => {
  const log = new Log();
  return await languageOf(texts.map((text) => log.user(text)));
};

/** What people ask in each language. */
const ASKED: Readonly<Record<string, string>> = {
  Arabic: 'من فضلك ساعدني في كتابة رسالة إلى صاحب المنزل حول المشكلة في نظام التدفئة في الشقة',
  Czech: 'Můžeš mi prosím pomoci napsat dopis majiteli bytu, protože topení už tři dny nefunguje a je tu velká zima',
  Chinese:
    '请帮我写一封信给房东，告诉他公寓的暖气已经三天不能用了，晚上真的非常冷，我们需要他尽快派人来修理一下，谢谢你的帮助。',
  German:
    'Kannst du mir bitte helfen, einen Brief an den Vermieter zu schreiben, weil die Heizung seit drei Tagen nicht geht?',
  Greek:
    'Μπορείς να με βοηθήσεις να γράψω ένα γράμμα στον ιδιοκτήτη γιατί η θέρμανση δεν λειτουργεί εδώ και τρεις μέρες',
  English:
    'Could you please help me to write a letter to the landlord, because the heating has not worked for three days?',
  French:
    'Peux-tu m’aider à écrire une lettre au propriétaire, parce que le chauffage ne fonctionne plus depuis trois jours ?',
  Hebrew: 'אתה יכול לעזור לי לכתוב מכתב לבעל הבית כי החימום לא עובד כבר שלושה ימים וקר מאוד בלילה',
  Hindi: 'क्या आप मकान मालिक को पत्र लिखने में मेरी मदद कर सकते हैं क्योंकि हीटिंग तीन दिनों से काम नहीं कर रही है',
  Hungarian:
    'Tudnál segíteni levelet írni a tulajdonosnak, mert a fűtés már három napja nem működik, és éjszaka nagyon hideg van',
  Indonesian:
    'Bisakah kamu membantu saya menulis surat kepada pemilik rumah karena pemanas sudah tiga hari tidak berfungsi dengan baik',
  Italian:
    'Puoi aiutarmi a scrivere una lettera al padrone di casa, perché il riscaldamento non funziona da tre giorni e fa freddo?',
  Japanese:
    '大家さんに手紙を書くのを手伝ってください。暖房が三日前から動かなくて、夜はとても寒いのです。早く直してもらいたいと思います。',
  Korean:
    '난방이 삼 일 동안 작동하지 않아서 집주인에게 편지를 쓰는 것을 도와주세요. 밤에는 정말 춥습니다. 빨리 고쳐 주셨으면 합니다.',
  Dutch:
    'Kun je me alsjeblieft helpen een brief aan de verhuurder te schrijven, omdat de verwarming al drie dagen niet werkt?',
  Polish:
    'Czy możesz mi pomóc napisać list do właściciela mieszkania, ponieważ ogrzewanie nie działa już od trzech dni?',
  Portuguese:
    'Você pode me ajudar a escrever uma carta ao proprietário, porque o aquecimento não funciona há três dias e está muito frio?',
  Romanian:
    'Poți să mă ajuți să scriu o scrisoare proprietarului, pentru că încălzirea nu mai funcționează de trei zile și este foarte frig?',
  Russian:
    'Помоги мне, пожалуйста, написать письмо хозяину квартиры, потому что отопление не работает уже три дня, и ночью в комнате очень холодно. Мы бы хотели, чтобы он прислал кого-нибудь',
  Spanish:
    '¿Puedes ayudarme a escribir una carta al propietario, porque la calefacción no funciona desde hace tres días y hace mucho frío?',
  Swedish:
    'Kan du hjälpa mig att skriva ett brev till hyresvärden, eftersom värmen inte har fungerat på tre dagar och det är mycket kallt?',
  Thai: 'ช่วยเขียนจดหมายถึงเจ้าของบ้านให้หน่อยได้ไหม เพราะเครื่องทำความร้อนไม่ทำงานมาสามวันแล้ว และตอนกลางคืนหนาวมาก',
  Turkish:
    'Ev sahibine bir mektup yazmama yardım eder misin, çünkü ısıtma üç gündür çalışmıyor ve geceleri çok soğuk oluyor',
  Ukrainian:
    'Допоможи мені, будь ласка, написати листа власнику квартири, бо опалення не працює вже три дні і вночі дуже холодно',
  Vietnamese:
    'Bạn có thể giúp tôi viết thư cho chủ nhà không, vì hệ thống sưởi đã không hoạt động ba ngày rồi và ban đêm rất lạnh',
};

describe('the language of the user', () => {
  it.each(Object.keys(ASKED))('is recognised: %s', async (language) => {
    expect(await written(ASKED[language] ?? '')).toBe(language);
  });

  it('is unknown from a few words, or from words of no language', async () => {
    expect(await written()).toBeNull();
    expect(await written('Bitte hilf mir beim Schreiben')).toBeNull();
    expect(await written('x '.repeat(200))).toBeNull();
    expect(await written('4711 0815 '.repeat(20))).toBeNull();
  });

  it('is that of the user, not of models, code, files and addresses', async () => {
    const log = new Log();
    const german = ASKED.German ?? '';
    const messages = [log.user(german), log.answer((ASKED.English ?? '').repeat(20))];
    expect(await languageOf(messages)).toBe('German');
    const english = ASKED.English ?? '';
    const long = Array.from({ length: 90 }, (_, at) => `the ${at}th thing that they would like to have`).join(' and ');
    for (const more of [
      `\`\`\`\n${english}\n\`\`\``,
      `\`\`\`\n${long}`,
      `<stdin>\n${english}\n</stdin>`,
      `<stdin>\n${long}\n</stdin>`,
      `<file name="a">\n${long}\n</file>`,
      'https://example.com/could/you/please/help/me/to/write/a/letter',
    ])
      expect([more.slice(0, 20), await written(`${german} ${more}`)]).toEqual([more.slice(0, 20), 'German']);
    const piped = log.user('', { content: [long, german].map((text) => ({ type: 'text', text }) as const) });
    expect(await languageOf([piped])).toBe('German');
  });

  it('counts each word once', async () => {
    expect(await written('please help me with this letter '.repeat(40), ASKED.German ?? '')).toBe('German');
  });

  it('is Hebrew only if most letters are Hebrew', async () => {
    expect(await written(`${ASKED.German} שלום`)).toBe('German');
    expect(await written(`${ASKED.Hebrew} hi`)).toBe('Hebrew');
  });
});
