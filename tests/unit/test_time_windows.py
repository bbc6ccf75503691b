"""Dates in questions (docs/decisions/0006).

The lists below make this file long: they are also the measurement of the decision record, so that whoever changes a
rule or wants to try a library has them. All of them are asked on Wednesday, 2023-10-25, 15:30 in Shanghai; the windows
are local, ``|`` stands between several, and ``..2020-01-01`` begins with all that can be stored.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.text.time_windows import MAX_LENGTH, MAX_WINDOWS, TimeWindow, Unit, time_windows, windows

ZONE = timezone(timedelta(hours=8))
NOW = datetime(2023, 10, 25, 15, 30, tzinfo=ZONE)

DATED = """
What did Caroline do in May 2023? => 2023-05-01..2023-06-01
When did Mel go camping in July? => 2023-07-01..2023-08-01
What did I buy on 2 May 2023? => 2023-05-02..2023-05-03
What painting did Melanie show to Caroline on October 13, 2023? => 2023-10-13..2023-10-14
What did John's teammates give him when they met on Aug 15th? => 2023-08-15..2023-08-16
What kind of deal did John get in December? => 2022-12-01..2023-01-01
What did Gina find for her store on 1 February, 2023? => 2023-02-01..2023-02-02
What happened on 2023-05-02? => 2023-05-02..2023-05-03
what did we say on 2023/5/2 => 2023-05-02..2023-05-03
Where was I on 5/2/2023? => 2023-05-02..2023-05-03|2023-02-05..2023-02-06
Where was I on 25/2/2023? => 2023-02-25..2023-02-26
What did I tell you yesterday? => 2023-10-24..2023-10-25
what did we talk about the day before yesterday => 2023-10-23..2023-10-24
Who did I meet today? => 2023-10-25..2023-10-26
What am I doing tomorrow? => 2023-10-26..2023-10-27
what's planned for the day after tomorrow? => 2023-10-27..2023-10-28
What did I cook last night? => 2023-10-24T18..2023-10-25T06
What did I eat this morning? => 2023-10-25T05..2023-10-25T12
Where did I go yesterday evening? => 2023-10-24T17..2023-10-25T00
What did I read last week? => 2023-10-16..2023-10-23
What did I read this week? => 2023-10-23..2023-10-30
What do I have planned next week? => 2023-10-30..2023-11-06
Which bills did I pay last month? => 2023-09-01..2023-10-01
How much did I run this month? => 2023-10-01..2023-11-01
What city did Tim suggest to John for the team trip next month? => 2023-11-01..2023-12-01
Where did John explore on a road trip last year? => 2022-01-01..2023-01-01
What did I promise to do this year? => 2023-01-01..2024-01-01
What did John volunteer at last weekend? => 2023-10-21..2023-10-23
What are we doing this weekend? => 2023-10-28..2023-10-30
Who called me on Monday? => 2023-10-23..2023-10-24
What did Joanna finish last Friday? => 2023-10-20..2023-10-21
When is my meeting next Friday? => 2023-10-27..2023-10-28|2023-11-03..2023-11-04
What did I do on Sunday morning? => 2023-10-22T05..2023-10-22T12
What did Joanna take a picture of near Fort Wayne last summer? => 2023-06-01..2023-09-01
What state did Joanna visit in summer 2021? => 2021-06-01..2021-09-01
Where did we stay last spring? => 2023-03-01..2023-06-01
what did I start in the fall of 2022 => 2022-09-01..2022-12-01
When did Caroline go to a pride parade during the summer? => 2023-06-01..2023-09-01
What did I do last winter? => 2022-12-01..2023-03-01
What happened three days ago? => 2023-10-22..2023-10-23
what did i say 10 days ago => 2023-10-15..2023-10-16
What did we discuss two weeks ago? => 2023-10-08..2023-10-15
Who visited three months ago? => 2023-07-01..2023-08-01
Where did Caroline move from 4 years ago? => 2019-01-01..2020-01-01
what did I order a couple of days ago? => 2023-10-22..2023-10-25
What did she say a few days ago? => 2023-10-18..2023-10-24
Who did I see a week ago? => 2023-10-15..2023-10-22
what did I get for Christmas? => 2022-12-25..2022-12-26
Where were we on New Year's Eve? => 2022-12-31..2023-01-01
What did I wear on Halloween 2022? => 2022-10-31..2022-11-01
What did we cook for Thanksgiving last year? => 2022-11-24..2022-11-25
What did he give me on Valentine's Day? => 2023-02-14..2023-02-15
Where did we watch the fireworks on the Fourth of July? => 2023-07-04..2023-07-05
Which movie did I see in early May? => 2023-05-01..2023-05-11
Which tournament did Nate win in the beginning of November 2022? => 2022-11-01..2022-11-11
what was I working on at the end of last month? => 2023-09-21..2023-10-01
What did I finish in mid-June? => 2023-06-11..2023-06-21
Which country was Tim visiting in the second week of November? => 2022-11-08..2022-11-15
What job did I have in 2019? => 2019-01-01..2020-01-01
Where have I lived since 2019? => 2019-01-01..2023-10-26
What did I do before 2020? => ..2020-01-01
What did I learn after March 2023? => 2023-04-01..2023-10-26
what changed since last Monday? => 2023-10-16..2023-10-26|2023-10-23..2023-10-26
How many tournaments has Nate won by July 10, 2022? => ..2022-07-11
Where was John between August 11 and August 15 2023? => 2023-08-11..2023-08-16
What did I do from March to May? => 2023-03-01..2023-06-01
what did we do from 3 June to 7 June 2023? => 2023-06-03..2023-06-08
What did I do between 2019 and 2021? => 2019-01-01..2022-01-01
What happened 2 days after May 5, 2023? => 2023-05-07..2023-05-08
What did John do the week before August 3, 2023? => 2023-07-27..2023-08-03
What is the puppy she got two weeks before August 11, 2023? => 2023-07-25..2023-08-01
What was shown on the Sunday before October 25, 2022? => 2022-10-23..2022-10-24
What did Maria participate in last weekend before April 10, 2023? => 2023-04-08..2023-04-10
What did Maria plan on the evening of 7 July, 2023? => 2023-07-07T17..2023-07-08T00
What did I do last May? => 2023-05-01..2023-06-01
What did we do in May last year? => 2022-05-01..2022-06-01
What did I say on May 5th of last year? => 2022-05-05..2022-05-06
What did I pay on the 5th? => 2023-10-05..2023-10-06
What did I pay on the 5th of last month? => 2023-09-05..2023-09-06
What did I do in the last two weeks? => 2023-10-11..2023-10-26
what have i been reading over the past 3 months => 2023-07-25..2023-10-26
What did we agree on Tuesday last week? => 2023-10-17..2023-10-18
what's due in 3 days? => 2023-10-28..2023-10-29
What will I do in December? => 2023-12-01..2024-01-01
What did we talk about on Monday, May 1, 2023? => 2023-05-01..2023-05-02
what did I do in Q2 2023? => 2023-04-01..2023-07-01
what did mel do in may => 2023-05-01..2023-06-01
What did I do in Sept 2022? => 2022-09-01..2022-10-01
What did I note on 05.03.2023? => 2023-03-05..2023-03-06
How long has John been playing, as of December 2023? => ..2024-01-01
Was the first half of September 2022 a good month? => 2022-09-01..2022-09-16
What did I do on the first of June? => 2023-06-01..2023-06-02
What did I do earlier this year? => 2023-01-01..2023-10-26
我5月2日去了哪里 => 2023-05-02..2023-05-03
在4月27号这天，我在公园里跑了多久？ => 2023-04-27..2023-04-28
我曾经在5月2日提到过我去了博物馆，你还记得我当时看了什么展览吗？ => 2023-05-02..2023-05-03
我4月30号为什么要问你舒缓压力的办法？ => 2023-04-30..2023-05-01
上周三我说了什么 => 2023-10-18..2023-10-19
去年夏天我们去了哪里玩？ => 2022-06-01..2022-09-01
前天晚上我吃了什么 => 2023-10-23T18..2023-10-24T06
三天前我们聊了什么？ => 2023-10-22..2023-10-23
国庆节我去了哪里？ => 2023-10-01..2023-10-08
5月初我在忙什么 => 2023-05-01..2023-05-11
昨天我跟你说过什么 => 2023-10-24..2023-10-25
大前天谁来过 => 2023-10-22..2023-10-23
今天早上我吃了什么 => 2023-10-25T05..2023-10-25T12
昨晚我梦见了什么 => 2023-10-24T18..2023-10-25T06
明天有什么安排？ => 2023-10-26..2023-10-27
后天我要见谁 => 2023-10-27..2023-10-28
上上周我读了什么书 => 2023-10-09..2023-10-16
上周我读了什么书 => 2023-10-16..2023-10-23
这周我跑了几次步 => 2023-10-23..2023-10-30
下周有什么计划 => 2023-10-30..2023-11-06
上个星期天我见了谁 => 2023-10-22..2023-10-23
礼拜三我们聊了什么 => 2023-10-18..2023-10-19|2023-10-25..2023-10-26
星期天我去了哪里 => 2023-10-22..2023-10-23
上周末我做了什么 => 2023-10-21..2023-10-23
周末我去哪里了 => 2023-10-21..2023-10-23
上个月我花了多少钱 => 2023-09-01..2023-10-01
上个月底我在做什么 => 2023-09-21..2023-10-01
本月初我说要做什么 => 2023-10-01..2023-10-11
下个月我要去哪里出差 => 2023-11-01..2023-12-01
上上个月我去哪了 => 2023-08-01..2023-09-01
年初我定了什么目标 => 2023-01-01..2023-04-01
去年我换了什么工作 => 2022-01-01..2023-01-01
前年我住在哪里 => 2021-01-01..2022-01-01
今年我的目标是什么 => 2023-01-01..2024-01-01
明年我打算做什么 => 2024-01-01..2025-01-01
2023年5月2日发生了什么 => 2023-05-02..2023-05-03
２０２３年５月２日发生了什么 => 2023-05-02..2023-05-03
二〇二二年五月二号我在哪 => 2022-05-02..2022-05-03
五月二号我买了什么 => 2023-05-02..2023-05-03
十二月二十五日我收到了什么 => 2022-12-25..2022-12-26
2022年我在做什么 => 2022-01-01..2023-01-01
2022年3月我在哪里 => 2022-03-01..2022-04-01
去年5月我在哪里 => 2022-05-01..2022-06-01
5月份我去了哪里 => 2023-05-01..2023-06-01
十一月我做了什么 => 2022-11-01..2022-12-01
元旦我们干了什么 => 2023-01-01..2023-01-02
去年圣诞节我收到什么礼物 => 2022-12-25..2022-12-26
五一我去了哪里 => 2023-05-01..2023-05-06
情人节他送了我什么 => 2023-02-14..2023-02-15
两周前我生病了吗 => 2023-10-08..2023-10-15
三个月前我搬到了哪里 => 2023-07-01..2023-08-01
两年前我在哪里上班 => 2021-01-01..2022-01-01
半年前我说过什么 => 2023-04-01..2023-05-01
前几天我推荐的书是什么 => 2023-10-18..2023-10-24
几天前我跟你说的那家店叫什么 => 2023-10-18..2023-10-24
最近三天我吃了什么 => 2023-10-22..2023-10-26
过去两个月我看过什么电影 => 2023-08-25..2023-10-26
5月2日之前我提过什么 => ..2023-05-02
5月2日之后我们聊过什么 => 2023-05-03..2023-10-26
今年三月以来我换过几份工作 => 2023-03-01..2023-10-26
从3月到5月我在做什么 => 2023-03-01..2023-06-01
4月27日到5月2日之间我做了什么 => 2023-04-27..2023-05-03
从2019年到2021年我在哪 => 2019-01-01..2022-01-01
5月2日后的第三天我做了什么 => 2023-05-05..2023-05-06
国庆节前两天我在忙什么 => 2023-09-29..2023-10-01
上个月5号我做了什么 => 2023-09-05..2023-09-06
15号那天我们聊了什么 => 2023-10-15..2023-10-16
上周三下午我在哪里 => 2023-10-18T12..2023-10-18T18
5月2日早上我吃了什么 => 2023-05-02T05..2023-05-02T12
去年年底我在忙什么 => 2022-10-01..2023-01-01
今年上半年我看了哪些书 => 2023-01-01..2023-07-01
去年春天我种了什么 => 2022-03-01..2022-06-01
夏天我去了哪里旅游 => 2023-06-01..2023-09-01
去年冬天我们去哪滑雪 => 2022-12-01..2023-03-01
2023-05-02我说了什么 => 2023-05-02..2023-05-03
2023/5/2 我说了什么 => 2023-05-02..2023-05-03
5月中旬我在哪 => 2023-05-11..2023-05-21
5月下旬我在哪 => 2023-05-21..2023-06-01
第二季度我的业绩怎么样 => 2023-04-01..2023-07-01
下周五的会议几点 => 2023-11-03..2023-11-04
这周五我要做什么 => 2023-10-27..2023-10-28
今晚吃什么 => 2023-10-25T18..2023-10-26T06
平安夜我们在哪里 => 2022-12-24..2022-12-25
昨天下午和前天我去了哪里 => 2023-10-24T12..2023-10-24T18|2023-10-23..2023-10-24
今天天气不错的反义词？ => 2023-10-25..2023-10-26
Which restaurant did we go to in April? => 2023-04-01..2023-05-01
What did Sara say about her job on September 14th? => 2023-09-14..2023-09-15
Who came to my birthday party on 21st March 2021? => 2021-03-21..2021-03-22
What was I reading in the spring of 2020? => 2020-03-01..2020-06-01
Do you remember what I told you two days ago about the car? => 2023-10-23..2023-10-24
what was the plan for this coming Saturday? => 2023-10-28..2023-10-29|2023-11-04..2023-11-05
How much did the trip last August cost? => 2023-08-01..2023-09-01
What did we decide in yesterday's meeting? => 2023-10-24..2023-10-25
What was on the menu last Saturday night? => 2023-10-21T18..2023-10-22T06
Which doctor did I see in late September? => 2023-09-21..2023-10-01
Where did I stay during Christmas 2021? => 2021-12-25..2021-12-26
Which books have I finished since January? => 2023-01-01..2023-10-26
Did I mention a cat before June 2022? => ..2022-06-01
What did Tom text me on the night of October 3? => 2023-10-03T18..2023-10-04T06
When I moved here five years ago, who helped me? => 2018-01-01..2019-01-01
what happened the day after Thanksgiving 2022? => 2022-11-25..2022-11-26
What should I do at the end of next week? => 2023-11-03..2023-11-06
Did we meet on 12/08/2022 or later? => 2022-12-08..2022-12-09|2022-08-12..2022-08-13
who was at the party on new year's eve 2019? => 2019-12-31..2020-01-01
What did I say about my boss last Thursday afternoon? => 2023-10-19T12..2023-10-19T18
Who did Ann meet in the first week of June 2023? => 2023-06-01..2023-06-08
What was my weight a month ago? => 2023-09-01..2023-10-01
What did I bring to the picnic this summer? => 2023-06-01..2023-09-01
Which flat did I look at in mid July 2023? => 2023-07-11..2023-07-21
What did Jo cook on Sunday evening? => 2023-10-22T17..2023-10-23T00
how many km did i run in the past week? => 2023-10-18..2023-10-26
Which flight do I take tomorrow morning? => 2023-10-26T05..2023-10-26T12
What did you recommend me on 2023.04.30? => 2023-04-30..2023-05-01
Where will we celebrate next Christmas? => 2023-12-25..2023-12-26
What did we do over the weekend? => 2023-10-21..2023-10-23
Which projects ran from June 2022 until August 2022? => 2022-06-01..2022-09-01
Do you know what I did the week after April 2, 2023? => 2023-04-03..2023-04-10
What did Max tell us about his exam in Jan 2023? => 2023-01-01..2023-02-01
What happened between Monday and Wednesday last week? => 2023-10-16..2023-10-19
Tell me about the hike on Oct. 7 => 2023-10-07..2023-10-08
What did I dream three nights ago? => 2023-10-22T18..2023-10-23T06
你还记得8月15日我们聊了什么吗 => 2023-08-15..2023-08-16
我6月去了什么地方旅行 => 2023-06-01..2023-07-01
上个周五晚上我跟谁吃的饭 => 2023-10-20T18..2023-10-21T06
大前年春节我在哪 => 2020-01-01..2021-01-01
去年国庆假期我去了哪里 => 2022-10-01..2022-10-08
2021年冬天你推荐的书 => 2021-12-01..2022-03-01
今年4月中旬我感冒了吗 => 2023-04-11..2023-04-21
前天中午我点了什么外卖 => 2023-10-23T11..2023-10-23T14
五天前我们讨论的电影叫什么 => 2023-10-20..2023-10-21
一个星期前我买了什么 => 2023-10-15..2023-10-22
我在2022年8月到10月之间做什么工作 => 2022-08-01..2022-11-01
3月8号妇女节我送了妈妈什么 => 2023-03-08..2023-03-09
在10月20号之后我提过几次跑步 => 2023-10-21..2023-10-26
上半年我读完了几本书 => 2023-01-01..2023-07-01
昨天凌晨我为什么睡不着 => 2023-10-24T00..2023-10-24T06
这个月初我许了什么愿 => 2023-10-01..2023-10-11
下星期一我要去哪 => 2023-10-30..2023-10-31
明年春节前我要完成什么 => 2024-01-01..2025-01-01
２０２２年１２月我在哪里 => 2022-12-01..2023-01-01
六月十八日我买了什么 => 2023-06-18..2023-06-19
二十三号下午谁找过我 => 2023-10-23T12..2023-10-23T18
去年八月份的旅行花了多少钱 => 2022-08-01..2022-09-01
上礼拜天我几点起床 => 2023-10-22..2023-10-23
四年前我在哪个城市 => 2019-01-01..2020-01-01
我上周日跟你说的那件事 => 2023-10-22..2023-10-23
过去一年里我换了几次手机 => 2022-10-25..2023-10-26
儿童节我送了孩子什么 => 2023-06-01..2023-06-02
5月4日这天晚上我做了什么 => 2023-05-04T18..2023-05-05T06
截至9月底我存了多少钱 => ..2023-10-01
7月1日的第二天我去了哪里 => 2023-07-02..2023-07-03
2023.4.27我们聊了什么 => 2023-04-27..2023-04-28
自去年9月以来我体重变化 => 2022-09-01..2023-10-26
我昨儿跟你说啥了 => 2023-10-24..2023-10-25
下个月十号是什么日子 => 2023-11-10..2023-11-11
十月一日那天人多吗 => 2023-10-01..2023-10-02
上周一到周三我在哪 => 2023-10-16..2023-10-19
今年夏天我学会了什么 => 2023-06-01..2023-09-01
元旦前一天我做了什么 => 2022-12-31..2023-01-01
小明十月份说了什么 => 2023-10-01..2023-11-01
两个半月前我在学什么 => 2023-08-05..2023-08-16
What did Kim tell me about Boston back in February? => 2023-02-01..2023-03-01
Which phone did I buy in November 2021? => 2021-11-01..2021-12-01
What was the name of the café we visited on Friday evening? => 2023-10-20T17..2023-10-21T00
when did i last mention my knee, was it in august? => 2023-08-01..2023-09-01
What did grandma give me for New Year's Day 2020? => 2020-01-01..2020-01-02
Who did I have lunch with the day before yesterday? => 2023-10-23..2023-10-24
What were my symptoms on 3rd of May? => 2023-05-03..2023-05-04
Which route did we drive on July 14, 2022, in the morning? => 2022-07-14T05..2022-07-14T12
What did the doctor say six months ago? => 2023-04-01..2023-05-01
What did I study from September 2018 to June 2019? => 2018-09-01..2019-07-01
Which trail did we walk in early September? => 2023-09-01..2023-09-11
What did Lee order at the restaurant last Wednesday? => 2023-10-18..2023-10-19
What did my sister say about the wedding a few months ago? => 2023-05-28..2023-08-27
What do we do on New Year's Eve this year? => 2023-12-31..2024-01-01
Which movie did we watch Saturday night? => 2023-10-21T18..2023-10-22T06
Where did I park on the 20th of October? => 2023-10-20..2023-10-21
What are my appointments for the next two weeks? => 2023-10-25..2023-11-09
What did you suggest me after my birthday in March? => 2023-03-01..2023-04-01
Was I sick at the beginning of this year? => 2023-01-01..2023-04-01
Did anything happen 1 week after Christmas 2022? => 2022-12-29..2023-01-05
who did i call on 10/13/2023 => 2023-10-13..2023-10-14
What was I worried about in the middle of last month? => 2023-09-11..2023-09-21
Which city did we stay in around June 10, 2022? => 2022-06-07..2022-06-14
What did I say until last Sunday about the job? => ..2023-10-23
What was Maria's plan for last Easter? => 2023-04-09..2023-04-10
我2月14号送了她什么花 => 2023-02-14..2023-02-15
前年夏天我在哪里实习 => 2021-06-01..2021-09-01
上周二晚上聚餐花了多少 => 2023-10-17T18..2023-10-18T06
你还记得我去年11月说过的那本书吗 => 2022-11-01..2022-12-01
三周前我们讨论的那个项目叫什么 => 2023-10-01..2023-10-08
这个月我提到过几次头疼 => 2023-10-01..2023-11-01
我在七月中旬去了哪里 => 2023-07-11..2023-07-21
8月20日到8月25日我在哪里出差 => 2023-08-20..2023-08-26
上个月25号我买了什么 => 2023-09-25..2023-09-26
2020年春天我在做什么 => 2020-03-01..2020-06-01
十天前我推荐的餐厅 => 2023-10-15..2023-10-16
周六下午我和谁打的球 => 2023-10-21T12..2023-10-21T18
自从去年以来我胖了多少 => 2022-01-01..2023-10-26
今年年初我的体重是多少 => 2023-01-01..2023-04-01
去年3月15日之前我在哪家公司 => ..2022-03-15
下周末我们去哪里爬山 => 2023-11-04..2023-11-06
本周二我开会说了什么 => 2023-10-24..2023-10-25
双十一我买了什么 => 2022-11-11..2022-11-12
大后天有什么活动 => 2023-10-28..2023-10-29
在2023年6月到8月期间我读了什么 => 2023-06-01..2023-09-01
近半年我的睡眠怎么样 => 2023-04-25..2023-10-26
22年9月我入职了哪里 => 2022-09-01..2022-10-01
9月30我们吃了什么 => 2023-09-30..2023-10-01
我前天和昨天分别吃了什么 => 2023-10-23..2023-10-24|2023-10-24..2023-10-25
九月初开学那天我穿了什么 => 2023-09-01..2023-09-11
我想知道5号那天的会议内容 => 2023-10-05..2023-10-06
一个半月前我换了什么手机 => 2023-09-05..2023-09-16
"""
"""What was asked, and the windows."""

UNDATED = """
May I ask you something?
I may go there, may I?
Wait a second please
They march on Washington
Do you like The Fifth Element?
what is the 5th element
which version 2.5 feature do you like
I am in room 2023
2 days after the party, who called?
Have a nice weekend!
I run every Monday
we swim on Sundays
Happy New Year!
Did I tell you about my friend May?
Spring Boot or Django, what did I choose?
Did I fall down the stairs?
What is the last thing I told you?
I need 3/4 cup of flour
How long ago did I move?
How many years have I worked here?
What is my second dog's name?
How old is my one-year-old child?
Whose sun hat did I borrow when we sat down?
What is 10.0.0.1 used for?
My phone number is 555-2023-11
What did I do for two weeks in total?
Once a week I call June, what is her number?
What is my day job?
Do you remember the March family from Little Women?
What is my goal for next time?
What did April say about the dog?
How did we wed, and who sat next to me?
一月光线不好的时候怎么拍照
三分之二的人同意吗
周末愉快！
每周三我都去游泳
每天早上我跑步
我住在2号楼
地铁10号线怎么走
一个月光景很快过去了
月光下的城市真美
我们一周年纪念日怎么过
圣诞快乐
新年快乐呀
聚会两天后谁打了电话
我三岁的时候住哪里
我喜欢什么颜色
你记得我的生日吗
他天天加班
我的周围有什么好吃的
版本2.5有什么变化
房间2023在哪里
我年龄多大
第一天上班穿什么
我用了三天时间读完什么书
日子过得怎么样
前后有什么区别
之前我说过什么
以后我想做什么
上次你推荐的电影叫什么
五一广场怎么走
星期八是什么歌
周星驰和周杰伦我更喜欢谁
我的车是5号出口出去的
What did she say in her second week at work?
May the force be with you
He said he might march in the parade
How do I set the date in Excel?
I have two cats and one dog
What is Augusta's address?
Is it safe to fall asleep in the sun?
My order number is 2023-778-12
How do I split 1/2 and 3/4?
Who is Autumn?
Could you wait a minute?
What time do you usually wake up in the morning?
When is your birthday?
The marching band plays every Saturday
What do I like to drink at night?
Do you prefer summer or winter?
My flat number is 1204, floor 12
Read the second chapter of the book
What is 12:30 in New York?
I jan't believe it, dec it
月亮为什么这么圆
他一天到晚都在玩
我们公司在五四路
天气预报怎么看
以前天气没有这么热
两天时间够吗
请给我三个建议
我的生日在哪天
十号楼的快递在哪拿
三年级的老师姓什么
岁月不饶人
秋刀鱼怎么做
请问3.14是什么
每年国庆我都回家
二手车怎么买
你觉得一周跑几次步合适
先天后天哪个重要
早上好，吃了吗
Does Joan march to her own beat?
Could Will fall for that?
Which of my two dogs is older?
In one second the glass broke, remember?
What's the best month to visit Japan?
I won 2nd prize, what was it?
My son is 12 years old now, what does he like?
Do I take sugar in my tea, day or night?
Who wrote 1984 and Fahrenheit 451?
What does the sat nav say?
Is a year longer than 365 days?
What is on page 2020?
端午节前后我回老家了吗
我每个周末都做什么
第三天的行程是什么
三个月能学会吗
我们第二季看到哪里了
我喜欢的季节是什么
后天养成的习惯怎么改
一年有多少天
日本和中国哪里好玩
我的手机号是什么
他号称三分钟吃完
半夜总是醒怎么办
五月天的歌我喜欢哪首
"""
"""What holds no date, however much it looks like one."""


def _local(text: str) -> datetime:
    """``2023-05-02``, ``2023-05-02T18`` or ``2023-05-02T18:30`` in the zone of the lists."""
    return datetime.fromisoformat(text).replace(tzinfo=ZONE)


def _expected(words: str) -> set[tuple[datetime, datetime]]:
    ends = (window.strip().partition("..")[::2] for window in words.split("|"))
    return {(_local(start or "1970-01-01"), _local(end)) for start, end in ends}


def _found(question: str, now: datetime = NOW) -> set[tuple[datetime, datetime]]:
    return {(window.start, window.end) for window in time_windows(question, now, ZONE)}


def _only(question: str, now: datetime = NOW) -> TimeWindow:
    (window,) = time_windows(question, now, ZONE)
    return window


def test_dates_in_questions_are_found() -> None:
    rows = (line.rpartition(" => ") for line in DATED.strip().splitlines())
    wrong = {
        question: _found(question) for question, _, words in rows if _found(question) != _expected(words)
    }
    assert not wrong


def test_what_only_looks_like_a_date_is_none() -> None:
    wrong = {line: found for line in UNDATED.strip().splitlines() if (found := _found(line))}
    assert not wrong


MORE = """
from June to yesterday => 2023-06-01..2023-10-25
the last day of May => 2023-05-31..2023-06-01
the week of May 5 => 2023-05-01..2023-05-08
the weekend before May 5, 2023 => 2023-04-29..2023-05-01
the weekend after May 5, 2023 => 2023-05-06..2023-05-08
the night before Christmas => 2022-12-24T18..2022-12-25T06
the Friday after June 3, 2023 => 2023-06-09..2023-06-10
last week, as mentioned on November 6, 2022 => 2022-10-24..2022-10-31|2022-11-06..2022-11-07
on Monday, 1 May => 2023-05-01..2023-05-02
the night before last => 2023-10-23T18..2023-10-24T06
the week before last => 2023-10-09..2023-10-16
this quarter => 2023-10-01..2024-01-01
at the end of the month => 2023-10-21..2023-11-01
later this year => 2023-10-25..2024-01-01
in 3 months from now => 2024-01-01..2024-02-01
the last few weeks => 2023-09-20..2023-10-26
a few weeks before May 5, 2023 => 2023-03-31..2023-05-05
the month after May 5, 2023 => 2023-05-06..2023-06-06
the year of May 5, 2022 => 2022-01-01..2023-01-01
two fortnights ago => 2023-09-24..2023-10-01
this winter => 2023-12-01..2024-03-01
on Memorial Day 2023 => 2023-05-29..2023-05-30
the second quarter of 2022 => 2022-04-01..2022-07-01
in 2022-05 => 2022-05-01..2022-06-01
on 5/2 => 2023-05-02..2023-05-03|2023-02-05..2023-02-06
the first week of last month => 2023-09-01..2023-09-08
from May 2022 to July => 2022-05-01..2022-08-01
last year, early May => 2022-05-01..2022-05-11
between May 3 and 7 => 2023-05-03..2023-05-08
May 5 and June 7 => 2023-05-05..2023-05-06|2023-06-07..2023-06-08
since yesterday => 2023-10-24..2023-10-26
after tomorrow => 2023-10-27..2024-10-27
two hours ago => 2023-10-25T12:30..2023-10-25T14:30
in the 90s => 1990-01-01..2000-01-01
去年暑假 => 2022-07-01..2022-09-01
上个季度 => 2023-07-01..2023-10-01
去年第三季度 => 2022-07-01..2022-10-01
从2019到2021年 => 2019-01-01..2022-01-01
2022年底 => 2022-10-01..2023-01-01
几个星期前 => 2023-09-20..2023-10-12
前两天 => 2023-10-21..2023-10-25
过去几天 => 2023-10-18..2023-10-26
三小时前 => 2023-10-25T11:30..2023-10-25T13:30
清明节 => 2023-04-04..2023-04-07
将在三天后 => 2023-10-28..2023-10-29
5月2日后的两周 => 2023-05-03..2023-05-17
5月2日前几天 => 2023-04-27..2023-05-02
今年5月2号到上个月5号 => 2023-05-02..2023-09-06
5月2日的前一天 => 2023-05-01..2023-05-02
5月2日三天后 => 2023-05-05..2023-05-06
5月2日前后 => 2023-04-29..2023-05-06
from June until now => 2023-06-01..2023-10-26
从上周到现在 => 2023-10-16..2023-10-26
上周到底说了什么 => 2023-10-16..2023-10-23
从昨天开始 => 2023-10-24..2023-10-26
到5月2日为止 => ..2023-05-03
23年5月2日 => 2023-05-02..2023-05-03
2023年5月2号到7号 => 2023-05-02..2023-05-08
从去年11月到3月 => 2022-11-01..2023-04-01
周一到周五 => 2023-10-16..2023-10-21
5月2日（周二） => 2023-05-02..2023-05-03
去年今天 => 2022-10-25..2022-10-26
下下周三 => 2023-11-08..2023-11-09
"""
"""Pieces that are put together. What has no year here is the last one, too."""


def test_looking_for_hints_first_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [line.rpartition(" => ")[0] or line for line in f"{DATED}{MORE}{UNDATED}".split("\n")]
    hinted = [_found(question) for question in questions]
    for hint in ("_ENGLISH", "_CHINESE", "_DIGITS"):
        monkeypatch.setattr(windows, hint, re.compile(""))
    assert hinted == [_found(question) for question in questions]


def test_pieces_are_put_together() -> None:
    for line in MORE.strip().splitlines():
        question, _, words = line.rpartition(" => ")
        assert _found(question) == _expected(words), question


def test_a_question_that_looks_ahead_means_the_next_one() -> None:
    for question, start in (
        ("What did we do in May?", "2023-05-01"), ("What will we do in May?", "2024-05-01"),
        ("What did I do on Monday?", "2023-10-23"), ("What am I going to do on Monday?", "2023-10-30"),
        ("11月我做了什么", "2022-11-01"), ("11月我将要做什么", "2023-11-01"),
        ("What is planned for Friday?", "2023-10-27"), ("What was planned for Friday?", "2023-10-20"),
        ("What's on our calendar on Friday?", "2023-10-27"), ("周五有什么安排", "2023-10-27"),
        ("周五要做什么", "2023-10-27"), ("周五做了什么", "2023-10-20"),
        ("Where will we be on 29 February?", "2024-02-29"), ("Where were we on 29 February?", "2020-02-29"),
    ):  # fmt: skip
        assert _only(question).start == _local(start), question


def test_what_the_words_leave_open_is_not_exact() -> None:
    for question, unit, exact in (
        ("on 2 May 2023", Unit.DAY, True), ("on 2 May", Unit.DAY, False), ("yesterday", Unit.DAY, True),
        ("in May 2023", Unit.MONTH, True), ("in May", Unit.MONTH, False), ("last May", Unit.MONTH, True),
        ("summer 2021", Unit.SEASON, True), ("in 2019", Unit.YEAR, True), ("last week", Unit.WEEK, True),
        ("two weeks ago", Unit.WEEK, False), ("a few days ago", Unit.DAYS, False), ("last weekend", Unit.DAYS, True),
        ("since 2019", Unit.RANGE, False), ("昨天晚上", Unit.PART, True), ("5月2日早上", Unit.PART, False),
        ("2 days after May 5", Unit.DAY, False), ("2 days after May 5, 2023", Unit.DAY, True),
        ("去年5月", Unit.MONTH, True), ("5月初", Unit.DAYS, False), ("国庆节", Unit.DAYS, False),
    ):  # fmt: skip
        window = _only(question)
        assert (window.unit, window.exact) == (unit, exact), question
    assert {window.exact for window in time_windows("on 5/2/2023", NOW, ZONE)} == {False}


def test_a_window_says_which_words_it_comes_from() -> None:
    for question, words in (
        ("What did we do in May 2023, please?", "May 2023"),
        ("你还记得我上周三下午在哪里吗", "上周三下午"),
        ("What happened 2 days after May 5, 2023?", "2 days after May 5, 2023"),
        ("在５月２日，我去了哪里", "５月２日"),
    ):
        start, end = _only(question).span
        assert question[start:end] == words


def test_days_are_those_of_the_zone() -> None:
    now = datetime(2023, 10, 25, 3, 0, tzinfo=UTC)
    for zone, start, hours in (
        (ZoneInfo("Asia/Shanghai"), "2023-10-24T16:00", 24),
        (ZoneInfo("Pacific/Honolulu"), "2023-10-24T10:00", 24),
        (UTC, "2023-10-25T00:00", 24),
    ):
        (window,) = time_windows("what did I do today", now, zone)
        assert window.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
        assert window.end - window.start == timedelta(hours=hours)
    (window,) = time_windows("on 12 March 2023", now, ZoneInfo("America/New_York"))
    assert window.end - window.start == timedelta(hours=23)  # the clocks went forward


def test_a_day_of_the_week_said_on_that_day_is_today_or_a_week_ago() -> None:
    monday = datetime(2023, 10, 23, 9, 0, tzinfo=ZONE)
    assert _found("on Monday", monday) == _expected("2023-10-23..2023-10-24|2023-10-16..2023-10-17")
    assert _found("last Monday", monday) == _expected("2023-10-16..2023-10-17")
    assert _found("上周一", monday) == _expected("2023-10-16..2023-10-17")


def test_without_a_zone_there_is_no_now() -> None:
    with pytest.raises(ValueError, match="zone"):
        time_windows("yesterday", datetime(2023, 10, 25), UTC)


def test_of_a_long_text_both_ends_count() -> None:
    text = f"on 2 May 2023 {'blah ' * 4000} on 3 May 2023"
    first, last = time_windows(text, NOW, ZONE)
    assert (text[slice(*first.span)], text[slice(*last.span)]) == ("2 May 2023", "3 May 2023")
    middle = f"{'blah ' * MAX_LENGTH} on 2 May 2023 {'blah ' * MAX_LENGTH}"
    assert time_windows(middle, NOW, ZONE) == ()
    calendar = " ".join(f"{day} May 2023" for day in range(1, 31))
    assert len(time_windows(calendar, NOW, ZONE)) == MAX_WINDOWS


NASTY = (
    *(
        "a",
        "9",
        "年",
        " ",
        "last ",
        "May ",
        "5月",
        "the ",
        "and ",
        "a couple of ",
        "1 ",
        "十",
        "of the ",
        "5/",
        "2023-",
    ),
    *("from May to ", "5月2日三天后", "last week before May 5 ", "early ", "每", "之前", "one "),
)


def test_the_time_it_takes_grows_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds(length: int) -> float:
        started = process_time()
        for piece in NASTY:
            assert len(time_windows((piece * length)[:length], NOW, ZONE)) <= MAX_WINDOWS
        return process_time() - started

    def least(length: int) -> float:
        return min(seconds(length) for _ in range(3))

    short, limited = least(MAX_LENGTH), least(10 * MAX_LENGTH)
    assert limited < 3 * short  # what is looked at is limited …
    monkeypatch.setattr(windows, "MAX_LENGTH", 10**9)
    assert least(4 * MAX_LENGTH) < 12 * short  # … and within it nothing is quadratic (16)


PIECES = sorted({word for line in DATED.split() for word in (line.split() if line.isascii() else line)})
TEXTS = st.one_of(
    st.text(max_size=60),
    st.builds(
        str.join,
        st.sampled_from(["", " "]),
        st.lists(st.one_of(st.sampled_from(PIECES), st.integers(0, 10**5).map(str)), max_size=12),
    ),
    st.lists(
        st.sampled_from([line.rpartition(" => ")[0] for line in DATED.strip().splitlines()]), max_size=3
    ).map(" ".join),
)


@given(TEXTS, st.datetimes(), st.sampled_from([UTC, ZONE, ZoneInfo("America/New_York")]))
def test_any_text_at_any_time_gives_sound_windows_or_none(text: str, now: datetime, zone: ZoneInfo) -> None:
    found = time_windows(text, now.replace(tzinfo=zone), zone)
    assert len({(window.start, window.end) for window in found}) == len(found) <= MAX_WINDOWS
    for window in found:
        assert window.start < window.end
        assert window.start.tzinfo is UTC
        assert 1969 <= window.start.year <= window.end.year <= 2201
        assert 0 <= window.span[0] < window.span[1] <= len(text)


@given(st.dates(date(1971, 1, 1), date(2099, 12, 31)), st.sampled_from([UTC, ZONE]))
def test_a_full_date_is_that_day_in_every_spelling(day: date, zone: timezone) -> None:
    start = datetime(day.year, day.month, day.day, tzinfo=zone)
    for words in (
        f"{day:%Y-%m-%d}", f"{day.year}/{day.month}/{day.day}", f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year}", f"{day.year}年{day.month}月{day.day}日",
        f"{day:%A}, {day:%B} {day.day}, {day.year}",
    ):  # fmt: skip
        (window,) = time_windows(f"What did I do on {words}?", NOW, zone)
        assert (window.start, window.unit, window.exact) == (start, Unit.DAY, True)
        assert window.end == start + timedelta(days=1)
