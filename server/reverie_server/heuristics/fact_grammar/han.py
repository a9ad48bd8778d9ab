"""Names, occupations, schools and numbers as they are written in Chinese characters. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.simplified import simplified

_LATIN = r"[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)?"
_NAME = re.compile(
    r"(?![一个素中美英法德日人了他她你它我谁别不什做针])(?:(?![我你他她])[一-龥]){2,4}(?<![的了])|" + _LATIN
)
# What begins like a name and is none.
_NO_NAME = (
    r"(?!高[手中一二三级血压度烧兴]|白[血内癜]|大三|马[上大虎]|方[便面]|周[一二三四五六日末围]|万[一能]|白[领天痴]|黄[金牛]|金[牌融]|江[湖浙]"
    r"|老[板师人公婆外实大花寒年]|小[学气白心时区编]|大[学家人一二三四概佬])"
)
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏"
    "钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
# A full name, or a name of endearment: what follows `I am` or stands behind `my sister` is often something else.
_FULL_NAME = re.compile(
    _NO_NAME
    + r"(?:[阿小老大][一-龥]{1,2}|(?P<twice>[一-龥])(?P=twice)"
    + f"|[{_SURNAMES}][一-龥]{{1,2}}"
    + r"|(?:欧阳|司马|上官|诸葛|慕容|尉迟|皇甫)[一-龥]{1,2})(?<![的了人们是病炎症癌疸疹痛瘤眠])|"
    + _LATIN
)
# The characters with which names of other languages are written by their sound: 佩特拉, 布鲁诺.
OF_SOUNDS = (
    "阿艾安奥巴贝本比彼波伯布达戴黛德迪蒂多厄恩尔菲费芬弗福戈格古哈汉赫亨华霍基吉加简杰卡凯坎康柯科克肯库拉莱兰朗劳雷莉里丽利琳卢鲁露伦"
    "罗洛马玛曼梅米莫穆娜纳内尼妮诺帕派佩皮普奇乔切琴萨塞莎桑瑟斯苏索塔泰汤特提托瓦万威韦维沃乌西希夏谢辛雅亚扬耶伊因尤约泽詹珍朱佐"
)
_OF_SOUNDS = re.compile(f"[{OF_SOUNDS}]{{2,6}}")
# What begins with a surname and is an occupation: 程序员, 高级工.
_NO_SURNAMES = frozenset(
    (
        "程序",
        "高级",
        "高中",
        "金融",
        "石油",
        "方案",
        "江湖",
        "万能",
        "白领",
        "马术",
        "钢琴",
        "田径",
        "文学",
        "文化",
        "武术",
    )
)
_SCHOOL = re.compile(
    r".{1,12}(?:小学|中学|初中|高中|幼儿园|幼稚园|大学|学校|学院|附中|附小|实小|[一二三四五六七八九十][中小])|[一-龥]{1,3}大"
)
_NUMBER = re.compile(
    r"[¥￥]?[\d一二三四五六七八九十两百千万亿零点半]{1,12}(?:多|左右)?(?:块|块钱|元|公斤|斤|厘米)?(?:钱)?(?:一个?月)?"
)
_JOB = re.compile(
    r".{0,12}(?:师|生|员|士|家|工|者|人员|经理|主任|医生|护士|长|官|教授|司机|厨师|导演|演员|顾问|总监|老师|程序员|设计师|律师|记者"
    r"|会计|编辑|翻译|木匠|铁匠|设计|摄影|策划|开发|自媒体|店长|组长|主管|助理|采购|销售|客服|财务|人事|行政|运营|前端|后端|美工|文员|出纳|仓管|保安|保洁|电工|木工|负责人)"
)
_TITLED = re.compile(r"[^男女好名个](?:老师|医生|大夫|教授|师傅|经理|总|阿姨|叔叔|先生|女士|教练|姐|哥|律师|校长)")
_CAR = re.compile(r"车|特斯拉|宝马|奔驰|大众|丰田|本田|奥迪|比亚迪|[A-Z]")
_TIME = re.compile(
    r"(?:下?下?个?(?:周|星期|礼拜)|这周|本周|上午|下午|晚上|早上|中午|明天|后天|今天|今晚|月底|年底|下个?月|每[天周年](?!\d)|每月(?!\d)"
    r"|\d{1,4} ?[年月点时:：]|(?<!\d)(?:[12]?\d|3[01]) ?[日号]"
    r"|[一二三四五六七八九十]{1,3}[月日号点]|\d{4}-\d\d)"
)
_NO_PLACE = re.compile(
    r"酒店|宾馆|医院|几天|一晚|哪|什么|这里|那里|一起|他|她|你"
    # Furniture, rooms, devices and programs are no home, and neither is the office.
    r"|^(?:[^，。]{0,4}的)?(?:沙发|床|地板|客房|次卧|主卧|卧室|书房|客厅|厨房|阳台|浴室|公司|办公室|单位|健身房|图书馆|网吧|实验室"
    r"|车|新?手机|电脑|平板|云端|云|梦|回忆|幻想|恐惧|微信|钉钉|飞书|安卓|苹果|Linux|Windows|Mac)(?:[里上中下]面?|那边)?(?:[睡住了].*)?$"
)
# Where one works today, and where one only sat.
_NO_WORK = re.compile(
    r"^家|家里|咖啡|图书馆|这里|那里|这儿|哪|今天|外面|路上|床上|周|晚上|一起|^老家|^这|^那|前$|沙发|桌|电脑上|手机上|宿舍|车里|地铁"
)
# A town is where somebody works, and no employer: "我在成都做药剂师".
_TOWN = re.compile(
    r"(?![一-龥]*(?:超|夜|菜|股|门|集|城|早|都|花)市)[一-龥]{1,8}[市县省]|(?:北京|上海|广州|深圳|成都|重庆|杭州|武汉|西安|南京|天津|苏州|长沙|郑州|东莞|青岛|沈阳|宁波|昆明|大连|厦门|合肥|佛山"
    r"|福州|哈尔滨|济南|温州|长春|石家庄|常州|泉州|南宁|贵阳|南昌|太原|烟台|嘉兴|南通|金华|珠海|惠州|徐州|海口|三亚|乌鲁木齐|绍兴|中山|台州"
    r"|兰州|无锡|洛阳|开封|桂林|大理|丽江|拉萨|银川|西宁|呼和浩特|扬州|镇江|芜湖|襄阳|宜昌|绵阳|台北|高雄|台中|台南|新竹|香港|澳门|新加坡"
    r"|自贡|攀枝花|泸州|德阳|广元|遂宁|内江|乐山|南充|眉山|宜宾|广安|达州|雅安|巴中|资阳|唐山|秦皇岛|邯郸|邢台|保定|张家口|承德|沧州|廊坊|衡水"
    r"|大同|长治|晋城|运城|临汾|包头|赤峰|鞍山|抚顺|丹东|锦州|营口|吉林|四平|延吉|齐齐哈尔|大庆|牡丹江|佳木斯|淮安|盐城|泰州|宿迁|连云港|湖州|衢州|舟山|丽水"
    r"|蚌埠|淮南|马鞍山|安庆|黄山|阜阳|六安|亳州|莆田|三明|漳州|南平|龙岩|宁德|景德镇|九江|赣州|吉安|宜春|上饶|淄博|枣庄|东营|潍坊|济宁|泰安|威海|日照|临沂|德州|聊城|菏泽"
    r"|平顶山|安阳|新乡|焦作|许昌|南阳|商丘|信阳|周口|驻马店|黄石|十堰|荆州|荆门|孝感|黄冈|恩施|株洲|湘潭|衡阳|邵阳|岳阳|常德|张家界|郴州|怀化|汕头|韶关|江门|湛江|茂名|肇庆|梅州"
    r"|清远|潮州|揭阳|柳州|梧州|北海|玉林|百色|遵义|六盘水|安顺|毕节|曲靖|玉溪|昭通|宝鸡|咸阳|渭南|延安|汉中|榆林|天水|酒泉|喀什|义乌|昆山|常熟"
    r"|东京|伦敦|纽约|柏林|巴黎|悉尼|墨尔本|多伦多|温哥华)(?:那边|这边|市区|郊区)?"
)
_NO_ORIGIN = re.compile(
    r"个|的|大|好|坏|老|年轻|男|女|主持|负责|[^国外]国?际|有|什么|哪|恋|家|工|商|诗|本地|狠|病|[聋哑盲残穷富闲忙]|证|当事|新"
)
# Another clause, typed behind the first as if it were one with it.
_CLAUSE = re.compile(
    r"(?<=.)[我他她你]|每[天周月晚]|一[喝吃碰闻].{0,3}就|.在.{1,8}(?:上班|工作|上学|读书)|租的|平时|经常|过敏$"
)
# How long nothing was smoked, or what came of it.
_NO_QUIT = re.compile(
    r"(?:快|差不多|好)?(?:几|半|[一二三四五六七八九十两百\d]{1,3})多?个?半?(?:年|月|天|周|星期|礼拜|小时)(?!的)|又|没"
)
_LANGUAGE = re.compile(r"语|話|话(?!题)|文(?!件|章)|方言")
_OWNED = re.compile(
    r"猫|狗|兔|孩子|儿子|女儿|弟弟|妹妹|哥哥|姐姐|车|房|公司|店|鱼|鸟|鹦鹉|乌龟|仓鼠|双胞胎|钢琴|吉他|相机|侄"
)
_PLACE = re.compile(r"那[儿里]$|家$|[里下上面旁边后前内外处间柜屉盒箱包桌架层楼室房店院场街路门口]")
_DIET = re.compile("素食者|素食主义者|糖尿病人")


def can_be_han_name(text: str) -> bool:
    """Whether a text can be the name that somebody gives."""
    # Names end as occupations do: 潘海生 is no 学生.
    is_name = re.fullmatch(f"[{_SURNAMES}]..", simplified(text)) is not None and text[:2] not in _NO_SURNAMES
    return _NAME.fullmatch(text) is not None and (is_name or _JOB.fullmatch(text) is None)


def is_han_name(text: str) -> bool:
    """Whether a text is plainly a name: with a surname, or one of endearment."""
    plain = simplified(text)
    return plain[:2] not in _NO_SURNAMES and _FULL_NAME.fullmatch(plain) is not None


def is_name_by_sound(text: str) -> bool:
    """Whether a text is written as names of other languages are: 佩特拉, and not 佩特别."""
    return _OF_SOUNDS.fullmatch(simplified(text)) is not None


def is_han_job(text: str) -> bool:
    """Whether a text is an occupation, and nobody with a title."""
    plain = simplified(text)
    return _JOB.fullmatch(plain) is not None and _TITLED.fullmatch(plain) is None


def is_titled_han_name(text: str) -> bool:
    """Whether simplified characters are a surname with a title: 安医生."""
    return len(text) <= 4 and text[:1] in _SURNAMES + "安" and _TITLED.fullmatch(text) is not None


def is_han_school(text: str) -> bool:
    """Whether a text is a school by its name."""
    return len(text) <= 16 and _SCHOOL.fullmatch(text) is not None


def is_han_number(text: str) -> bool:
    """Whether a text is a number or an amount, in characters or figures."""
    return _NUMBER.fullmatch(text) is not None


# What is eaten as food is, and is none.
_MEDICINE = re.compile(
    r"(?:地平|沙坦|洛尔|普利|双胍|他汀|西林|洛芬|拉唑|替丁|唑仑|西泮|硝唑|格列[一-龥]|药|[药钙]片|胶囊|胰岛素|维生素[a-z]?"
    r"|阿司匹林|优甲乐|褪黑素|头孢[一-龥]{0,2}|叶酸)(?:[\d一二两三半]+(?:片|粒|颗|毫克|mg))?$",
    re.IGNORECASE,
)


def fits_han(condition: str, text: str) -> bool:
    """Whether an object in simplified characters is what its predicate asks for."""
    match condition:
        case "name":
            return can_be_han_name(text)
        case "fullname":
            return is_han_name(text) and not is_han_job(text)
        case "school":
            return is_han_school(text)
        case "job":
            return is_han_job(text) and _DIET.fullmatch(text) is None and not text.endswith("会员")
        case "surname":
            return len(text) <= 2
        case "food":
            return _CLAUSE.search(text) is None
        case "medicine":
            return _MEDICINE.search(text) is not None
        case "quit":
            return _NO_QUIT.match(text) is None
        case "city":
            is_other = any(what.search(text) for what in (_CLAUSE, _NO_PLACE)) or _TIME.match(text)
            return len(text) <= 16 and not is_other
        case "work":
            is_none = _NO_WORK.search(text) is not None or _TOWN.fullmatch(text) is not None
            return 2 <= len(text) <= 16 and not is_none and not is_titled_han_name(text)
        case "town":
            return _TOWN.fullmatch(text) is not None
        case "origin":
            return len(text) <= 8 and _NO_ORIGIN.search(text) is None
        case "language":
            return len(text) <= 24 and _LANGUAGE.search(text) is not None
        case "person":
            return len(text) <= 6 and "的" not in text
        case "owned":
            return _OWNED.search(text) is not None
        case "car":
            return _CAR.search(text) is not None
        case "time":
            return _TIME.match(text) is not None and len(text) <= 30
        case "place":
            return _PLACE.search(text[-3:]) is not None and _TIME.match(text) is None and len(text) <= 30
    return True
