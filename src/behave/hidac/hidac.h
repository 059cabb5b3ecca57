// HiDAC, the high level: what people know of a building and do with it. Pelechano, Badler 2006, "Modeling crowd and trained
// leader behavior during building evacuation" (PB06), and sections 4.1.7 and 4.1.8 of Pelechano, Allbeck, Badler 2007
// (PAB07). Neither prints equations; what is chosen and why: docs/models/hidac.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_H
#define TH_BEHAVE_HIDAC_H
#include "core/device.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/vec.h"

#define TH_PB06 "Pelechano, Badler 2006"
#define TH_P07 "Pelechano, Allbeck, Badler 2007"

#define TH_MIND_PARAMS(X)                                                                          \
    X(knows_all, 1, 0, 1, "-", TH_PB06, "share of people who know the whole building")             \
    X(knows_way_in, 0, 0, 1, "-", TH_PB06,                                                         \
      "share that know the way they came by; the rest know nothing and explore")                   \
    X(trained, 0, 0, 1, "-", TH_PB06, "share of trained staff: know all and tell others")          \
    X(followers, 0, 0, 1, "-", TH_PB06,                                                            \
      "share of those without knowledge of the way that follow an agent with it")                  \
    X(talks, 1, 0, 1, "-", TH_PB06, "1: those who meet exchange what they know")                   \
    X(talk_range, 2.5, 0, 10, "m", "throng: a voice among others", "how near one has to be")       \
    X(sight, 10, 1, 50, "m", "throng: a shut door is recognised across a large room",              \
      "how far people see doors and whom they follow")                                             \
    X(companions, 1, 1, 20, "people", "throng: families and friends",                              \
      "people who came together, by order of appearance; 1: all walk alone")                       \
    X(wait_distance, 4, 1, 50, "m", "throng: out of reach",                                        \
      "companions wait for one that is this far behind")                                           \
    X(wait_longest, 60, 0, 3600, "s", "throng", "longest wait for companions")                     \
    X(impatience, 0.5, 0, 1, "-", TH_P07, "1: looks for another way at once, 0: never")            \
    X(patience, 10, 0, 600, "s", "throng: not printed", "time in a jam that patient people bear")  \
    X(quicker, 0.8, 0.1, 1, "-", "throng: hysteresis",                                             \
      "share of the time for which people change their way")                                       \
    X(change_pause, 5, 0, 600, "s", "throng: hysteresis", "no second change before")               \
    X(alarm_time, -1, -1, 1e6, "s", TH_P07, "when an alarm panics people; -1: never")              \
    X(alarm_x, 0, -1e7, 1e7, "m", "throng", "where, in the coordinates of the scene")              \
    X(alarm_y, 0, -1e7, 1e7, "m", "throng", "where, in the coordinates of the scene")              \
    X(alarm_radius, 0, 0, 1e6, "m", "throng", "how far from there; 0: everywhere")                 \
    X(alarm_level, 0, -1, 1000, "-", "throng",                                                     \
      "the level that alarm_radius is on, the first is 0; -1: all")                                \
    X(alarm_share, 0.2, 0, 1, "-", TH_P07 ": some", "share of those who hear it that panic")       \
    X(panic_range, 5, 0, 30, "m", "throng: not printed", "how far panic is seen")                  \
    X(panic_by_sight, 0.5, 0, 10, "1/s", "throng: not printed",                                    \
      "rise of panic where all others in range panic")                                             \
    X(panic_by_talk, 0.05, 0, 10, "1/s",                                                           \
      "throng: less than calming: talk alone does not cause panic",                                \
      "rise while a neighbour in panic talks")                                                     \
    X(panic_by_pushing, 0.2, 0, 10, "1/s", "throng: not printed",                                  \
      "rise where all others in range are pushed about")                                           \
    X(panic_push, 1, 0.01, 20, "m/s", "throng: half of what throws an agent",                      \
      "an agent pushed this hard is pushed about")                                                 \
    X(panic_by_density, 0.08, 0, 10, "1/s",                                                        \
      "throng: less than calming: queues of 6 to 8 /m2 in laboratories are calm",                  \
      "rise above panic_density")                                                                  \
    X(panic_density, 5, 0.5, 15, "1/m2", "throng: people touch all around", "within 1 m")          \
    X(panic_by_fallen, 0.3, 0, 10, "1/s", "throng: not printed",                                   \
      "rise while a fallen agent is in range")                                                     \
    X(calming, 0.1, 0, 10, "1/s", "throng: not printed", "fall of panic at all times")             \
    X(panic_lasts, 60, 1, 1e5, "s", "throng: not printed; models of contagion let people recover", \
      "time in panic after which what is seen and heard frightens no more")                        \
    X(panic_threshold, 0.5, 0.05, 1, "-", "throng: not printed",                                   \
      "panic at which an average person behaves so; back to normal 0.2 lower")                     \
    X(anxious, 0, 0, 1, "-", "throng: docs/models/hidac.md", "share: neuroticism 0.8")             \
    X(polite, 0, 0, 1, "-", "throng: docs/models/hidac.md",                                        \
      "share: agreeableness 0.8, conscientiousness 0.5")                                           \
    X(impatient, 0, 0, 1, "-", "throng: docs/models/hidac.md",                                     \
      "share: agreeableness -0.8, extraversion 0.5, conscientiousness -0.5")                       \
    X(openness, 0, -1, 1, "-", "throng: the five factors", "takes exits it does not know")         \
    X(conscientiousness, 0, -1, 1, "-", "throng: the five factors", "keeps calm and in line")      \
    X(extraversion, 0, -1, 1, "-", "throng: the five factors", "goes up to others, hurries")       \
    X(agreeableness, 0, -1, 1, "-", "throng: the five factors", "waits, gives way")                \
    X(neuroticism, 0, -1, 1, "-", "throng: the five factors", "panics early")

typedef struct th_mind_params {
    TH_MIND_PARAMS(TH_PARAM_MEMBER)
} th_mind_params;

enum {
    TH_MIND_SLOT,      // 1 + where its memory is; 0: new
    TH_MIND_ROOM,      // 1 + room, 0: none
    TH_MIND_AIM,       // 1 + portal, or 1 + portals + goal; 0: none
    TH_MIND_ENTERED,   // 1 + portal by which it came into the room, 0: began here
    TH_MIND_NATURE,    // TH_MIND_* bits
    TH_MIND_ENTRANCE,  // 1 + goal by which it came in
    TH_MIND_FOLLOWS,   // id of the leader whom it follows, 0: none
    TH_MIND_JAMMED,    // [s] stood before the portal
    TH_MIND_CHANGED,   // [s] left until it may change its mind again
    TH_MIND_PANIC,     // level
    TH_MIND_REMAINING, // [m] left to the goal as far as it knows
    TH_MIND_WAITED,    // [s] for companions and followers
    TH_MIND_CALLED,    // [s] left: a follower was seen to be behind
    TH_MIND_PLANNED,   // 1: knows the way, the planner leads it
    TH_MIND_USED_TO,   // [s] of panic that it has got used to
    TH_MIND_FIELDS
};

// Fields of the move model hidac that the mind reads and writes: of an agent in panic, of manners, of being pushed about.
enum {
    TH_MIND_USES_PANIC,
    TH_MIND_USES_MANNERS,
    TH_MIND_USES_PUSHED_X,
    TH_MIND_USES_PUSHED_Y,
    TH_MIND_USES
};

// Bits of the field nature.
enum {
    TH_MIND_KNOWS_ALL = 1,
    TH_MIND_KNOWS_WAY_IN = 2,
    TH_MIND_TRAINED = 4,
    TH_MIND_FOLLOWER = 8,
    TH_MIND_ANXIOUS = 16,
    TH_MIND_POLITE = 32,
    TH_MIND_IMPATIENT = 64,
    TH_MIND_PANICS = 128,
    TH_MIND_HEARD = 256, // the alarm
    TH_MIND_TOLD = 512,  // the way, by trained staff
};

// The five factors of a person, -1 .. 1, and what follows from them. Durupinar, Allbeck, Pelechano, Badler 2008 and 2011
// tie the factors to HiDAC's parameters by adjectives; the weights here are throng's.
typedef struct th_temper {
    float openness, conscientiousness, extraversion, agreeableness, neuroticism;
} th_temper;

TH_FORMULA th_temper th_temper_of(const th_mind_params *p, uint32_t nature) {
    th_temper t = {p->openness, p->conscientiousness, p->extraversion, p->agreeableness,
                   p->neuroticism};
    if (nature & TH_MIND_ANXIOUS) t.neuroticism = 0.8f;
    if (nature & TH_MIND_POLITE) {
        t.agreeableness = 0.8f;
        t.conscientiousness = 0.5f;
    }
    if (nature & TH_MIND_IMPATIENT) {
        t.agreeableness = -0.8f;
        t.extraversion = 0.5f;
        t.conscientiousness = -0.5f;
    }
    return t;
}

// Range of talk: outgoing people approach others.
TH_FORMULA float th_mind_talk_range(const th_mind_params *p, const th_temper *t) {
    return p->talk_range * (1.0f + 0.5f * t->extraversion);
}

// Outgoing people walk after others less.
TH_FORMULA float th_mind_follows(const th_mind_params *p, const th_temper *t) {
    return p->followers * (1.0f - 0.5f * t->extraversion);
}

// 1 gives way, 2 pushes, 0: as the move model draws it.
TH_FORMULA uint32_t th_mind_manners(const th_temper *t) {
    return t->agreeableness >= 0.5f ? 1 : t->agreeableness <= -0.5f ? 2 : 0;
}

// Does an agent that knows only its own entrance take another exit in sight? Open people do when that is nearer,
// others the less so the less open they are.
TH_FORMULA bool th_mind_dares(const th_temper *t, float distance, float known_way) {
    return distance < t->openness * known_way;
}

// Extraverted, disagreeable and careless people are impatient; people in panic do not wait at all.
TH_FORMULA float th_mind_impatience(const th_mind_params *p, const th_temper *t, bool panics) {
    float i = p->impatience + 0.3f * t->extraversion - 0.5f * t->agreeableness -
              0.2f * t->conscientiousness;
    return panics ? 1.0f : p->impatience <= 0.0f ? 0.0f : th_clamp(i, 0.0f, 1.0f);
}

// Time in a jam after which an agent looks for another way [s]; without impatience never.
TH_FORMULA float th_mind_patience(const th_mind_params *p, float impatience) {
    return impatience > 0.0f ? (1.0f - impatience) * p->patience : 1e9f;
}

// The level from which an agent behaves in panic: nervous people early, conscientious ones late.
TH_FORMULA float th_mind_threshold(const th_mind_params *p, const th_temper *t) {
    return th_clamp(p->panic_threshold *
                        (1.0f - 0.5f * t->neuroticism + 0.25f * t->conscientiousness),
                    0.02f, 1.0f);
}

// Causes of panic.
typedef struct th_fright {
    float panicked,
        pushed;    // shares of the people in sight and range that panic, that are pushed about
    float density; // around [1/m2]
    bool fallen;   // a fallen agent is in sight
    bool told;     // a neighbour in panic talks to it
} th_fright;

// The share of fright that is left after so many seconds of panic.
TH_FORMULA float th_mind_fresh(const th_mind_params *p, float used_to) {
    return th_clamp(1.0f - used_to / p->panic_lasts, 0.0f, 1.0f);
}

// The level after dt. Without getting used to it, people in panic would keep each other in panic by being seen.
TH_FORMULA float th_mind_panic(const th_mind_params *p, float level, const th_fright *fright,
                               float used_to, float dt) {
    float rise = p->panic_by_sight * fright->panicked + p->panic_by_pushing * fright->pushed +
                 (fright->density > p->panic_density ? p->panic_by_density : 0.0f) +
                 (fright->fallen ? p->panic_by_fallen : 0.0f) +
                 (fright->told ? p->panic_by_talk : 0.0f);
    return th_clamp(level + dt * (th_mind_fresh(p, used_to) * rise - p->calming), 0.0f, 1.0f);
}

// Panic wears off while it lasts; ten times slower people can be frightened again.
TH_FORMULA float th_mind_get_used(const th_mind_params *p, float used_to, bool panics, float dt) {
    return th_clamp(used_to + (panics ? dt : -0.1f * dt), 0.0f, p->panic_lasts);
}

// Time to a place and on [s]: walking there, the people before one at the flow of a door (Weidmann 1993: 1.22 people/(m s)),
// and walking on.
TH_FORMULA float th_mind_time(float distance, float beyond, float speed, int ahead, float width) {
    return (distance + beyond) / th_max(speed, 0.1f) + (float)ahead / (1.22f * th_max(width, 0.3f));
}
#endif
