/**
 * Invented names for the demo data. A name in another script has its Latin spelling after a colon, for the e-mail address. If
 * women's surnames differ, `family` has those of men. Only cultures with reserved phone numbers have `phones` (phones.ts).
 */
export type Culture = {
  language: string
  phones: readonly ('us' | 'gb' | 'ie' | 'de' | 'fr' | 'se' | 'au')[]
  women: readonly string[]
  men: readonly string[]
  family: readonly string[]
  family_of_women?: readonly string[]
  titles: readonly string[]
  deals: readonly string[]
  lost_reasons: readonly string[]
  /** Name, domain without `.example`, industry, address. */
  companies: readonly (readonly [string, string, string, string])[]
}

const cyrillic: Culture[] = [
  {
    language: 'uk',
    phones: [],
    women: ['Оксана:oksana', 'Ірина:iryna', 'Наталія:nataliia', 'Соломія:solomiia', 'Юлія:yuliia'],
    men: ['Андрій:andrii', 'Тарас:taras', 'Богдан:bohdan', 'Сергій:serhii', 'Євген:yevhen'],
    family: ['Шевченко:shevchenko', 'Коваленко:kovalenko', 'Мельник:melnyk', 'Гнатюк:hnatiuk', 'Ґудзь:gudz'],
    titles: ['директор з розвитку', 'фахівець із закупівель', 'технічний директор'],
    deals: ['Річна підтримка', 'Постачання обладнання', 'Пілотний проєкт'],
    lost_reasons: ['Зависока ціна', 'Проєкт відкладено'],
    companies: [
      ['Дніпровські верфі', 'dnipro-verfi', 'Shipbuilding', 'вул. Набережна 12, Херсон'],
      ['Карпатська пасіка', 'karpatska-pasika', 'Food', 'вул. Лісова 3, Яремче'],
      ['Світлотех', 'svitlotekh', 'Lighting', 'вул. Садова 41, Львів'],
    ],
  },
  {
    language: 'bg',
    phones: [],
    women: ['Десислава:desislava', 'Мария:maria', 'Цветелина:tsvetelina', 'Йоана:yoana'],
    men: ['Георги:georgi', 'Димитър:dimitar', 'Пламен:plamen', 'Жельо:zhelyo'],
    family: ['Иванов:ivanov', 'Петров:petrov', 'Стоянов:stoyanov', 'Щерев:shterev'],
    family_of_women: ['Иванова:ivanova', 'Петрова:petrova', 'Стоянова:stoyanova', 'Щерева:shtereva'],
    titles: ['управител', 'ръководител продажби', 'счетоводител'],
    deals: ['Годишна поддръжка', 'Внедряване на склад'],
    lost_reasons: ['Избраха друг доставчик'],
    companies: [
      ['Розова долина ООД', 'rozova-dolina', 'Cosmetics', 'ул. Роза 7, Казанлък'],
      ['Черноморски превози', 'chernomorski-prevozi', 'Logistics', 'бул. Приморски 88, Варна'],
    ],
  },
]

const greek: Culture[] = [
  {
    language: 'el',
    phones: [],
    women: ['Ελένη:eleni', 'Κατερίνα:katerina', 'Δήμητρα:dimitra', 'Άννα:anna', 'Ζωή:zoi'],
    men: ['Νίκος:nikos', 'Γιώργος:giorgos', 'Ηλίας:ilias', 'Σπύρος:spyros', 'Άγγελος:angelos'],
    family: [
      'Παπαδόπουλος:papadopoulos',
      'Νικολαΐδης:nikolaidis',
      'Οικονόμου:oikonomou',
      'Μαυρίδης:mavridis',
    ],
    family_of_women: [
      'Παπαδοπούλου:papadopoulou',
      'Νικολαΐδου:nikolaidou',
      'Οικονόμου:oikonomou',
      'Μαυρίδου:mavridou',
    ],
    titles: ['διευθύνων σύμβουλος', 'υπεύθυνος προμηθειών', 'λογιστήριο'],
    deals: ['Ετήσια συντήρηση', 'Προμήθεια εξοπλισμού', 'Ανακαίνιση καταστημάτων'],
    lost_reasons: ['Περικοπή προϋπολογισμού', 'Υψηλή τιμή'],
    companies: [
      ['Αιγαίο Ναυτιλιακή', 'aigaio-naftiliaki', 'Shipping', 'Ακτή Μιαούλη 41, Πειραιάς'],
      ['Ελαιώνες Λέσβου', 'elaiones-lesvou', 'Food', 'Οδός Ερμού 9, Μυτιλήνη'],
      ['Φωτεινή Ενέργεια', 'foteini-energeia', 'Energy', 'Λεωφόρος Στρατού 23, Θεσσαλονίκη'],
    ],
  },
]

const rightToLeft: Culture[] = [
  {
    language: 'ar',
    phones: [],
    women: ['ليلى:layla', 'فاطمة:fatima', 'نور:nour', 'مريم:maryam', 'هدى:huda'],
    men: ['أحمد:ahmad', 'خالد:khalid', 'يوسف:yousef', 'عمر:omar', 'إبراهيم:ibrahim'],
    family: ['الخطيب:alkhatib', 'حداد:haddad', 'منصور:mansour', 'الشامي:alshami', 'نجّار:najjar'],
    titles: ['مدير المشتريات', 'مهندس مشاريع', 'المدير المالي'],
    deals: ['عقد صيانة سنوي', 'توريد معدات', 'مشروع تجريبي'],
    lost_reasons: ['السعر مرتفع', 'تأجيل المشروع'],
    companies: [
      ['شركة واحة النخيل', 'wahat-alnakhil', 'Food', 'شارع الكورنيش ١٢، جدة'],
      ['مصنع الأرز للأثاث', 'alarz-furniture', 'Furniture', 'شارع الحمرا ٨، بيروت'],
      ['دار الزيتون للنشر', 'dar-alzaytoun', 'Publishing', 'شارع طلعت حرب ٣٠، القاهرة'],
    ],
  },
  {
    language: 'he',
    phones: [],
    women: ['נועה:noa', 'תמר:tamar', 'שירה:shira', 'מיכל:michal'],
    men: ['דוד:david', 'איתי:itai', 'יונתן:yonatan', 'אורי:uri'],
    family: ['לוי:levi', 'מזרחי:mizrahi', 'פרידמן:friedman', 'בן־דוד:bendavid', 'ברק:barak'],
    titles: ['מנהלת רכש', 'סמנכ"ל תפעול', 'ראש צוות פיתוח'],
    deals: ['תחזוקה שנתית', 'רישוי תוכנה'],
    lost_reasons: ['קיצוץ בתקציב'],
    companies: [
      ['גליל מערכות השקיה', 'galil-irrigation', 'Agriculture', 'רחוב הזית 5, כרמיאל'],
      ['אור חדש אופטיקה', 'or-hadash', 'Optics', 'שדרות רוטשילד 71, תל אביב'],
    ],
  },
]

const eastAsian: Culture[] = [
  {
    language: 'ja',
    phones: [],
    women: ['美咲:misaki', 'さくら:sakura', '陽子:yoko', '千尋:chihiro', '結衣:yui'],
    men: ['翔太:shota', '健一:kenichi', '大輔:daisuke', '蓮:ren', '悠真:yuma'],
    family: ['佐藤:sato', '鈴木:suzuki', '髙橋:takahashi', '渡邉:watanabe', '小林:kobayashi'],
    titles: ['営業部長', '購買担当', '情報システム課長'],
    deals: ['年間保守契約', '新工場ライン導入', 'ライセンス更新'],
    lost_reasons: ['予算が確保できなかった', '競合他社に決定'],
    companies: [
      ['株式会社青空精機', 'aozora-seiki', 'Mechanical engineering', '愛知県豊橋市東町1-8-2'],
      ['さくらプリント有限会社', 'sakura-print', 'Printing', '京都府京都市左京区北町44'],
      ['みなと物流株式会社', 'minato-butsuryu', 'Logistics', '神奈川県横浜市中区海岸通5-3'],
      ['㈱ひかり電子', 'hikari-denshi', 'Electronics', '大阪府堺市北区新町2-17'],
    ],
  },
  {
    language: 'zh-Hans',
    phones: [],
    women: ['秀英:xiuying', '雨桐:yutong', '静怡:jingyi', '梓涵:zihan'],
    men: ['伟:wei', '建国:jianguo', '浩然:haoran', '子轩:zixuan'],
    family: ['王:wang', '李:li', '欧阳:ouyang', '龚:gong'],
    titles: ['采购经理', '技术总监'],
    deals: ['年度维护合同', '仓储系统升级'],
    lost_reasons: ['价格太高', '项目取消'],
    companies: [
      ['长风机械有限公司', 'changfeng-jixie', 'Mechanical engineering', '江苏省苏州市平江路18号'],
      ['云上茶业', 'yunshang-chaye', 'Food', '云南省大理市古城路9号'],
    ],
  },
  {
    language: 'zh-Hant',
    phones: [],
    women: ['淑芬:shufen', '雅婷:yating', '靜宜:jingyi'],
    men: ['志明:zhiming', '建國:jianguo', '偉倫:weilun'],
    family: ['陳:chen', '黃:huang', '蕭:xiao', '劉:liu'],
    titles: ['採購經理', '總經理'],
    deals: ['試點專案', '年度維護合約'],
    lost_reasons: ['價格太高', '預算刪減'],
    companies: [
      ['臺北晨光科技', 'chenguang-keji', 'Software', '臺北市信義區松仁路77號'],
      ['港灣貿易行', 'gangwan-maoyi', 'Trade', '香港九龍彌敦道205號'],
    ],
  },
  {
    language: 'ko',
    phones: [],
    women: ['서연:seoyeon', '지민:jimin', '하은:haeun', '수진:sujin'],
    men: ['민준:minjun', '도윤:doyun', '현우:hyeonu', '성호:seongho'],
    family: ['김:kim', '이:lee', '박:park', '최:choi', '남궁:namgung'],
    titles: ['구매팀장', '영업이사', '연구소장'],
    deals: ['연간 유지보수', '설비 교체'],
    lost_reasons: ['예산 부족'],
    companies: [
      ['새론소재', 'saeron-sojae', 'Chemicals', '부산광역시 해운대구 센텀로 21'],
      ['푸른숲출판', 'pureunsup', 'Publishing', '경기도 파주시 책향기로 15'],
      ['다온게임즈', 'daon-games', 'Software', '서울특별시 마포구 월드컵로 102'],
    ],
  },
]

const devanagari: Culture[] = [
  {
    language: 'hi',
    phones: [],
    women: ['प्रिया:priya', 'अनन्या:ananya', 'सुनीता:sunita', 'कविता:kavita', 'ऋचा:richa'],
    men: ['राहुल:rahul', 'अर्जुन:arjun', 'संजय:sanjay', 'विक्रम:vikram', 'कृष्ण:krishna'],
    family: ['शर्मा:sharma', 'गुप्ता:gupta', 'सिंह:singh', 'मिश्रा:mishra', 'त्रिवेदी:trivedi'],
    titles: ['क्रय प्रबंधक', 'परियोजना निदेशक', 'लेखा प्रमुख'],
    deals: ['वार्षिक रखरखाव', 'उपकरण आपूर्ति', 'सॉफ़्टवेयर लाइसेंस'],
    lost_reasons: ['बजट नहीं मिला', 'कीमत अधिक है'],
    companies: [
      ['गंगा वस्त्र उद्योग', 'ganga-vastra', 'Textiles', 'अस्सी मार्ग 14, वाराणसी'],
      ['नीलगिरि चाय', 'nilgiri-chai', 'Food', 'चर्च रोड 6, कुन्नूर'],
      ['हिमालय औषधि', 'himalaya-aushadhi', 'Pharmaceuticals', 'राजपुर रोड 52, देहरादून'],
      ['सूर्य ऊर्जा प्रा. लि.', 'surya-urja', 'Energy', 'टोंक रोड 120, जयपुर'],
    ],
  },
]

export const otherScripts: readonly Culture[] = [
  ...cyrillic,
  ...greek,
  ...rightToLeft,
  ...eastAsian,
  ...devanagari,
]
