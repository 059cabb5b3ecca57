// Every bound that a finding compares with, its definition and its source. docs/reports.md shows what they say of recorded
// calm crowds (no alarm) and of accidents (alarm); tests/test_thresholds.c checks both. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_THRESHOLDS_H
#define TH_OBSERVE_THRESHOLDS_H

// Slower than this while walking is a jam [m/s]. No norm gives a number. Weidmann's curve (1993) falls to
// 0.2 m/s at 3.7 /m2 and SFPE's at 3.2 /m2, both just below what IMO calls congestion, and people do
// not walk so slowly by choice: the slowest preferred speed (0.5 m/s) on stairs (factor 0.5) is 0.25 m/s.
#define TH_JAM_SPEED 0.2f

// ---- density: the kernel's (kernel.h) [1/m2]

// IMO MSC.1/Circ.1533: congestion is a local density above 4 /m2; significant when it lasts longer than 10 % of the time.
#define TH_DENSE 4.0f
#define TH_IMO_SHARE 0.1 // [-]
// Fruin 1993, The causes and prevention of crowd disasters: from about 7 /m2 the crowd is almost a fluid mass, shock waves
// run through it and people lose control. Calm students before a door of 0.5 m (040_c_56_h-) reach 7.9 /m2 for up to
// 10 s each, those before a door of 3 m (AO_300) 6.5 /m2.
#define TH_PACKED 7.0f
// What was found where people died: Duisburg 2010 8 +- 1 /m2, Jamarat 2006 up to 10 /m2.
#define TH_DEADLY 8.0f
// How long a person is in it before it counts: after about 30 s people who cannot breathe lose consciousness, after 6
// minutes they die (Still, Crowd safety and crowd risk analysis). It leaves out those who pass through a squeeze. [s]
#define TH_PACKED_TIME 30.0f
// Seconds in denser crowds are kept of every person for these bounds.
enum { TH_EXPOSURE_DENSE, TH_EXPOSURE_PACKED, TH_EXPOSURE_DEADLY, TH_EXPOSURES };
#define TH_EXPOSURE_BOUNDS \
    { TH_DENSE, TH_PACKED, TH_DEADLY }

// ---- crowd pressure (observer_map.c) [1/s2]

// Helbing, Johansson and Al-Abideen 2007 (Phys. Rev. E 75, 046109) saw turbulence from 0.02 /s2 on, in a crowd of 6 to
// 10 /m2. In calm crowds before doors the same measure reaches 0.03 to 0.13 /s2 where they are less dense than TH_PACKED:
// people set off and stop together. So a finding asks for both, for TH_PACKED_TIME.
#define TH_TURBULENT 0.02
// Means over time are exponential with this time: several waves of stop-and-go, which take about 10 s each. [s]
#define TH_PRESSURE_TIME 30.0

// ---- load: half the sum of the contact forces on a body (th_world_contact_forces) [N]

// Loads on the chest, as quoted by Lee and Hughes 2006 (Accident Analysis and Prevention 38, 712): 623 N is what men
// pushed against a bar tolerated (Evans and Hayden 1971); 1112 N is estimated to kill within 4 to 6 minutes and 6227 N
// within 15 s (Hopkins and others 1993).
// The force is what a crowd that pushes as hard as it wants to walk would do. A queue does not: its members touch and
// do not push, as long as they have room to stand apart. So a load counts only while the person is in a crowd denser than
// TH_PACKED, where people have none (Fruin 1993: forces pass through the whole crowd). The highest load is told in any case.
enum { TH_LOADS = 3 };
#define TH_LOAD_BOUNDS \
    { 623.0f, 1112.0f, 6227.0f }
// How long, by bound: 623 N is unpleasant at once, 10 s leave out a single shove; a fifth of 4 to 6 minutes; a third of
// 15 s. [s]
#define TH_LOAD_TIMES \
    { 10.0f, 60.0f, 5.0f }

// ---- what tells of the model rather than of the crowd

// More than any door lets through in experiments with people (docs/reports.md), over a window. [1/(m s)], [s]
#define TH_TOO_MUCH_FLOW 2.5
#define TH_PEAK_WINDOW 10.0
// Bodies give about 2 cm; deeper overlaps make densities and flows too high. [m]
#define TH_OVERLAP_TOO_DEEP 0.05
// Width of map cells from which short peaks are smoothed out. [m]
#define TH_COARSE_CELL 0.51
#endif
