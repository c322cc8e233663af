import { describe, expect, it } from '@jest/globals';
import { askedIn, mayAsk } from '../../../lib/recall/asked.js';
import { Collector } from '../../../lib/recall/index/collector.js';
import { parseQuery } from '../../../lib/recall/rank/query.js';
import { rank, Scores } from '../../../lib/recall/rank/rank.js';

/** What was said, and how it is asked for. */
const SAID = [
  ['Der Versicherungsvertrag liegt in der blauen Mappe.', 'Vertrag Versicherung'],
  ['Der Hausschlüssel hängt neben der Garage.', 'Wo ist der Schlüssel?'],
  ['Das Zimmer im Hotel hatte keinen Balkon.', 'Hotelzimmer'],
  ['Die Steuererklärung muss bis Ende Juli abgegeben werden.', 'Wann ist die Erklärung für die Steuer fällig?'],
  ['Gestern haben wir drei Häuser besichtigt.', 'welches Haus'],
  ['Das Regal im Flur ist zu schmal.', 'Regale'],
  ['Der Wald hinter dem Dorf ist alt.', 'in welchen Wäldern'],
  ['Meine Mutter kommt am Sonntag.', 'Mütter'],
  ['Mit den Bäumen im Garten wurde es zu dunkel.', 'Baum Gärten'],
  ['Der Apfel war faul.', 'Äpfeln'],
  ['Das Buch von Kafka ist bei Jana.', 'Bücher von Kafka'],
  ['Bei den Töchtern des Nachbarn brennt Licht.', 'Tochter'],
  ['Äpfelstrudel by Zoë is the best dessert.', 'apfelstrudel zoe'],
  ["İstanbul'da yağmur yağıyordu, ılık bir akşamdı.", 'istanbul yagmur'],
  ['ILIK SÜT İÇTİM', 'ılık süt içtim'],
  ['Я купил новую машину в марте.', 'какую машину я купил'],
  ['Встреча с врачом назначена на пятницу.', 'когда встречаюсь с врачами'],
  ['اشتريت السيارة من الشركة الجديدة في دبي.', 'سيارة شركة'],
  ['كلمة السر للشبكة هي زيتون.', 'ما هي كلمة سر الشبكة'],
  ['החתול שלי אוהב דגים.', 'חתול'],
  ['我的猫叫小花，今年三岁。', '我的猫叫什么名字'],
  ['我們把資料庫搬到新的伺服器上。', '数据 资料库'],
  ['上周体检，医生说血压偏高。', '體檢 血壓'],
  ['我在臺北住了兩年。', '台北住了多久'],
  ['昨日は図書館で勉強した。', '图书馆'],
  ['広島の渡辺さんから手紙が来た。', '廣島 渡邊'],
  ['我三月五号去看牙医。', '3月5日'],
  ['二〇二三年十二月三十一号出发。', '2023年12月31日'],
  ['押金一千二百块。', '1200'],
  ['会議は木曜日の午後三時に変わりました。', '会議はいつ'],
  ['ｶﾀｶﾅで書いたメモ', 'カタカナ メモ'],
  ['강아지 이름은 초코예요.', '강아지의 이름'],
  ['Xe máy của tôi để ở nhà bà ngoại.', 'xe may o dau nha ba ngoai'],
  ['Το κλειδί είναι κάτω από το χαλάκι.', 'που ειναι το κλειδι'],
  ['Kupiłem rower górski za dwa tysiące złotych.', 'ile kosztował rower gorski'],
  ['The flight LH1234 leaves at 6:45 from gate B17.', 'LH1234 gate'],
  ['See https://example.org/docs/setup?x=1#part for details.', 'example.org/docs/setup'],
  ['The file is /etc/nginx/sites-enabled/default.conf', 'nginx sites-enabled default.conf'],
  ['The error was ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED 5432'],
] as const;

describe('a search in many languages', () => {
  const collector = new Collector();
  const texts: readonly string[] = SAID.map(([said]) => said);
  for (const text of texts) collector.add({ kind: 'user', day: 0, text });
  const scores = new Scores([collector]);
  const bounds = { kinds: null, from: null, until: null, favour: {} };

  it.each([...SAID])('finds %j first for %j', (said, query) => {
    const [first] = rank(scores, parseQuery(query), bounds, (document) => texts[document] ?? '');
    expect(texts[first?.document ?? -1]).toBe(said);
  });
});

describe('whether a message may be about earlier ones', () => {
  it.each([
    ['Äpfelstrudel by Zoë', true],
    ['где мой ключ', true],
    ['我的猫叫什么名字', true],
    ['¿cuándo fue la última vez en Lisboa?', true],
    ['Erinnerst du dich an Lissabon?', true],
    ['What did Ann say?', false],
    ['Good morning, how are you?', false],
    ['danke', false],
    ['谢谢', false],
    ['早上好，你好吗？', false],
    ['謝謝，沒關係，我知道了', false],
    ['是的，我有个问题', false],
    ['おはようございます', false],
    ['ありがとう、大丈夫です', false],
    ['안녕하세요, 감사합니다', false],
    ['สวัสดีครับ ขอบคุณ', false],
    ['阿杰上次去攀岩是哪天', true],
    ['會議室訂了嗎', true],
    ['会議は木曜日ですか', true],
    ['강아지 이름이 뭐예요', true],
    ['ส้มตำร้านไหนอร่อย', true],
    ['我用Redis做缓存', true],
  ])('%j: %p', (message, expected) => {
    expect(mayAsk(askedIn(message))).toBe(expected);
  });
});
