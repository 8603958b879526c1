/* SPDX-License-Identifier: ISC */
/*
 * Messages, a thing that a call touches, and whether the call may be approved
 * without the person, if a model says yes to everything. The home directory is
 * /home/me.
 */
/* clang-format off */
ASKED("Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Edit ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Fix ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Rewrite ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Overwrite ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Create ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Change ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Modify ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Correct ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Reformat ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Shorten ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Sort ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Please update ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("please fix the file ~/notes/plan.txt!",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Now update ~/notes/plan.txt, please.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Ok, write ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Write a summary to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Write the list of topics into ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Save the result as ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Add a line to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Append today's topics to ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Put the table into ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Fix the typo in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Correct the spelling in ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Read ~/a.txt and write a summary to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Read ~/a.txt. Then update ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Copy ~/a.txt to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Create a new file called ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Create an empty file at ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Update ~/notes/plan.txt and ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Update ~/b.txt and ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Update ~/a.txt, ~/b.txt and ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Update ~/notes/plan.txt from ~/a.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Write a summary of ~/a.txt to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Hello, update ~/notes/plan.txt. Thanks!",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Look at ~/a.txt\nUpdate ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Insert a heading in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Record the time in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Export the table to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Improve the file ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Tidy ~/notes",
    "write-path", "/home/me/notes/sub/x.txt", 1)
ASKED("Update the pages in ~/notes",
    "write-path", "/home/me/notes/sub/x.txt", 1)
ASKED("Save the report to ~/notes/sub",
    "write-path", "/home/me/notes/sub/x.txt", 1)
ASKED("Delete ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 1)
ASKED("Please remove the file ~/notes/plan.txt.",
    "delete-path", "/home/me/notes/plan.txt", 1)
ASKED("Read ~/a.txt and delete ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 1)
ASKED("Erase ~/notes/plan.txt and ~/b.txt",
    "delete-path", "/home/me/notes/plan.txt", 1)
ASKED("Commit the changes in /srv/repo/x",
    "write-history", "/srv/repo/x", 1)
ASKED("Mail the report to bob@x.example",
    "email-address", "bob@x.example", 1)
ASKED("What does ~/notes/plan.txt say?",
    "read-path", "/home/me/notes/plan.txt", 1)
ASKED("Summarise ~/notes",
    "read-path", "/home/me/notes/sub/x.txt", 1)
ASKED("Why is ~/notes/plan.txt so long?",
    "read-path", "/home/me/notes/plan.txt", 1)
ASKED("See https://a.example/docs for it",
    "fetch-url", "https://a.example/docs/a", 1)
ASKED("~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Read ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Open ~/notes/plan.txt and tell me about it",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Summarise ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Look in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("I update ~/notes/plan.txt daily",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("My notes are in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Explain ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Compare ~/a.txt with ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Copy ~/notes/plan.txt to ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Save ~/notes/plan.txt as ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write a summary of ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write a summary of ~/notes/plan.txt to ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt from ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt with ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write tests for the code in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fix the bug described in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fix the problems in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Add a link to ~/notes/plan.txt in ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt to match ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt and read ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt, then check ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write an essay and peruse ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write an essay and dig around in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Follow the steps in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Use ~/notes/plan.txt to update ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Create ~/b.txt like ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Rename ~/notes/plan.txt to ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Rename ~/b.txt to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Move ~/notes/plan.txt to ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Move ~/b.txt to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Remove ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete the last line in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Tell Bob to update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Help me to update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Try to update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Plan an update of ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Review ~/notes/plan.txt and fix the typos",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update the summary from ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Replace the table in ~/b.txt by ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Make ~/notes/plan.txt executable",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Print ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Backup ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("The script writes ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Updating ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Updates to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Add access to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write about the changes to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Change ~/notes/plan.txt to ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Send ~/notes/plan.txt to bob@x.example",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("List ~/notes/plan.txt and ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Find the word update in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Never touch anything in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Do not update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Don't write ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("don't edit ~/notes/plan.txt, please",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt but not ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update everything except ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt without touching ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Leave ~/notes/plan.txt as is",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Avoid ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit ~/b.txt, never ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. No, wait.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Actually, do not.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update neither ~/b.txt nor ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Stop. Update ~/notes/plan.txt is wrong",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Keep ~/notes/plan.txt untouched",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Nobody may change ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("You can't edit ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt? No!",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Skip ~/notes/plan.txt, update ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write nothing to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Hands off, update ~/notes/plan.txt is what Bob does",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update it. The file ~/notes/plan.txt must stay unchanged",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Refrain from this, update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Ignore ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fix ~/b.txt instead of ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Treat ~/notes/plan.txt as read-only",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Undo: update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Cancel. Write ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Never touch anything in ~/notes",
    "read-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Never touch anything in ~/notes",
    "write-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Do not look into ~/notes",
    "read-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Do not look into ~/notes",
    "write-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Summarise all of it without ~/notes",
    "read-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Summarise all of it without ~/notes",
    "write-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Don't read ~/notes",
    "read-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Don't read ~/notes",
    "write-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Do not delete ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Never mail bob@x.example",
    "email-address", "bob@x.example", 0)
ASKED("What does ~/notes/plan.txt say?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Should I update ~/notes/plan.txt?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Can you update ~/notes/plan.txt?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Did you write ~/notes/plan.txt?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("How do I edit ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Who may change ~/notes/plan.txt?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Is it time to fix ~/notes/plan.txt?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Why did you overwrite ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Tell me how to create ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("What happens if you update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Shall we update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Would you write ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt, or is it fine?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Which of them, ~/b.txt or ~/notes/plan.txt?",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("If the tests pass, update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt if it is old",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt when I say so",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt unless Bob has",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Wait, then update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt tomorrow",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt later",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Once I agree, write ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("After lunch, update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Maybe update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Perhaps fix ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Bob said, update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("She asked, please write ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("They told me, delete or update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("For example, update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Imagine you had to, update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Suppose so, write ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Yesterday I said, update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt or ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("The agent will update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Think, could update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("The mail says \"update ~/notes/plan.txt\"",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("He wrote: update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("> update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("`update ~/notes/plan.txt`",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("```\nUpdate ~/notes/plan.txt\n```",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("echo x > ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("# Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Run this: write ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("'Update ~/notes/plan.txt'",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("update ~/notes/plan.txt; rm -r x",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("$(update ~/notes/plan.txt)",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("{update ~/notes/plan.txt}",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("[update] ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt && make",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("(update ~/notes/plan.txt)",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("update = ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Translate \"write ~/notes/plan.txt\"",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("| update ~/notes/plan.txt |",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("* Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("open('~/notes/plan.txt', 'w')",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Aktualisiere ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Schreibe nach ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update bitte nicht ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Bitte nie update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Mets ~/notes/plan.txt en ordre",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Ne modifie pas ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Actualiza ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("No toques ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Non modificare ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("\xd0\x9e\xd0\xb1\xd0\xbd\xd0\xbe\xd0\xb2\xd0\xb8 ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("\xe6\x9b\xb4\xe6\x96\xb0 ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update \xc3\xa4 ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt\xe2\x80\x99",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write nichts in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Werk ~/notes/plan.txt bij",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt niet",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Write ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete the last line in ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Remove the table from ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Remove ~/notes/plan.txt from the list",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete everything in ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Empty ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Move ~/notes/plan.txt to ~/b.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Clean up, then read ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete ~/b.txt and read ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete the mention of ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Commit nothing in /srv/repo/x",
    "write-history", "/srv/repo/x", 0)
ASKED("Show the log of /srv/repo/x",
    "write-history", "/srv/repo/x", 0)
ASKED("Read the mail from bob@x.example",
    "email-address", "bob@x.example", 0)
ASKED("Mail Bob a summary about bob@x.example",
    "email-address", "bob@x.example", 0)
ASKED("Update ~/.bashrc",
    "write-path", "/home/me/.bashrc", 0)
ASKED("Update ~/.config/autostart/x.desktop",
    "write-path", "/home/me/.config/autostart/x.desktop", 0)
ASKED("Update ~/src/.git/hooks/pre-commit",
    "write-path", "/home/me/src/.git/hooks/pre-commit", 0)
ASKED("Update ~/src/Makefile",
    "write-path", "/home/me/src/Makefile", 0)
ASKED("Update ~/src/package.json",
    "write-path", "/home/me/src/package.json", 0)
ASKED("Update ~/src/.github/workflows/a.yml",
    "write-path", "/home/me/src/.github/workflows/a.yml", 0)
ASKED("Update ~/src/build.sh",
    "write-path", "/home/me/src/build.sh", 0)
ASKED("Update ~/bin/run",
    "write-path", "/home/me/bin/run", 0)
ASKED("Update ~/src/setup.py",
    "write-path", "/home/me/src/setup.py", 0)
ASKED("Update ~/src/scripts/a.txt",
    "write-path", "/home/me/src/scripts/a.txt", 0)
ASKED("Update /etc/hosts.txt",
    "write-path", "/etc/hosts.txt", 0)
ASKED("Update ~/src/Dockerfile",
    "write-path", "/home/me/src/Dockerfile", 0)
ASKED("Update ~/src/CLAUDE.md",
    "write-path", "/home/me/src/CLAUDE.md", 0)
ASKED("Update ~/src/main.js",
    "write-path", "/home/me/src/main.js", 0)
ASKED("Update ~/src/.vscode/tasks.json",
    "write-path", "/home/me/src/.vscode/tasks.json", 0)
ASKED("Update ~/src/Jenkinsfile",
    "write-path", "/home/me/src/Jenkinsfile", 0)
ASKED("Update ~/x.service",
    "write-path", "/home/me/x.service", 0)
ASKED("Update ~/src/CMakeLists.txt",
    "write-path", "/home/me/src/CMakeLists.txt", 0)
ASKED("Update ~/src/requirements.txt",
    "write-path", "/home/me/src/requirements.txt", 0)
ASKED("Update ~/src/MAKEFILE",
    "write-path", "/home/me/src/MAKEFILE", 0)
ASKED("Update ~/x.exe",
    "write-path", "/home/me/x.exe", 0)
ASKED("Update ~/src/.gitlab-ci.yml",
    "write-path", "/home/me/src/.gitlab-ci.yml", 0)
ASKED("Update ~/.zshrc",
    "write-path", "/home/me/.zshrc", 0)
ASKED("Update ~/.profile",
    "write-path", "/home/me/.profile", 0)
ASKED("Update ~/.ssh/authorized_keys",
    "write-path", "/home/me/.ssh/authorized_keys", 0)
ASKED("Update ~/src/pyproject.toml",
    "write-path", "/home/me/src/pyproject.toml", 0)
ASKED("Update ~/src/conftest.py",
    "write-path", "/home/me/src/conftest.py", 0)
ASKED("Update the pages in ~/notes",
    "write-path", "/home/me/notes/run.sh", 0)
ASKED("Update the pages in ~/notes",
    "write-path", "/home/me/notes/Makefile", 0)
ASKED("Update the pages in ~/notes",
    "write-path", "/home/me/notes/.envrc", 0)
ASKED("Update the pages in ~/notes",
    "write-path", "/home/me/notes/hooks/x", 0)
ASKED("Update the pages in ~/notes",
    "write-path", "/home/me/notes/a.py", 0)
ASKED("Change directory to ~/notes",
    "write-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Change to ~/notes and list the files",
    "write-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Update the setting to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update the default location to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Correct the title to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Copy the files in ~/notes to ~/b",
    "write-path", "/home/me/notes/sub/x.txt", 0)
ASKED("Copy the table in ~/notes/plan.txt to ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Copy the table in ~/notes/plan.txt to the clipboard",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Export the data in ~/notes/plan.txt to ~/b.csv",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Save the figures in ~/notes/plan.txt as ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Put the table in ~/notes/plan.txt into ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Copy to ~/b.txt the table in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Finish the work in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Complete the checklist in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Add the features in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Generate the code in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fix the issue in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Change log in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Clean copy in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update history in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Log into ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt on Monday",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt in an hour",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt failed",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write ~/notes/plan.txt fails here",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Put an end to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Do not read \"~/notes/plan.txt\"",
    "read-path", "/home/me/notes/plan.txt", 0)
ASKED("Do not read (~/notes/plan.txt)",
    "read-path", "/home/me/notes/plan.txt", 0)
ASKED("Never read these\n~/notes/plan.txt",
    "read-path", "/home/me/notes/plan.txt", 0)
ASKED("~/notes/plan.txt has my diary. Do not read it.",
    "read-path", "/home/me/notes/plan.txt", 0)
ASKED("Keep your hands off ~/notes/plan.txt",
    "read-path", "/home/me/notes/plan.txt", 0)
ASKED("~/notes/plan.txt is confidential",
    "read-path", "/home/me/notes/plan.txt", 0)
ASKED("Do not open '~/my notes/plan.txt'",
    "read-path", "/home/me/my notes/plan.txt", 0)
ASKED("Stay away from ~/notes/plan.txt",
    "read-path", "/home/me/notes/plan.txt", 0)
ASKED("Read '~/my notes/plan.txt'",
    "read-path", "/home/me/my notes/plan.txt", 1)
ASKED("Read ~/notes/plan.txt and list its headings",
    "read-path", "/home/me/notes/plan.txt", 1)
ASKED("Add a line in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Change the title in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Copy the table in ~/a.txt to ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Save the figures in ~/a.txt as ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
/* Sentences and words after a name that are not understood. */
ASKED("Update ~/a.txt, ~/notes/plan.txt excluded.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/a.txt ~/notes/plan.txt excluded",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Save ~/notes/plan.txt from changes.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Save ~/notes/plan.txt from yourself",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Generate ~/b.txt, ~/notes/plan.txt as input.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt, ~/notes/plan.txt for reference.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt and ~/notes/plan.txt for comparison",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Sort ~/b.txt, ~/notes/plan.txt aside",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/b.txt, ~/notes/plan.txt, aside",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fix ~/notes/plan.txt myself",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt in January",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt at 5pm",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt on the 5th",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt next sprint",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt upon my signal",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt and ask me first",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Ask me first. Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt subject to approval",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt provided the tests pass",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt assuming Bob agrees",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt in your head",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Rewrite ~/notes/plan.txt in chat",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Rewrite ~/notes/plan.txt on screen",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Rewrite ~/notes/plan.txt here",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit the ~/notes/plan.txt copy",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit ~/notes/plan.txt backup",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Create ~/notes/plan.txt later2",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt lol jk",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("TODO list\n- Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Sarcasm. Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Ask Bob. Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Disregard this. Update ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Disregard the next line.\nUpdate ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("The next sentence lies. Update ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Scratch the last order.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Nah.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Nope",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Oops, wrong window.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Nevermind.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Abort",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Sorry, wrong file.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Disregard.",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Scrap it",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt. Drop it",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Read ~/notes/plan.txt, ~/b.txt and update ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write tests covering ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write tests in the style of ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Add the heading in ~/notes/plan.txt to ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Put everything in ~/notes/plan.txt into ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Copy the headings in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Insert the list in ~/notes/plan.txt here",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fix the bugs in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update the page with the numbers in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Replace ~/b.txt with ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Replace ~/notes/plan.txt by ~/b.txt in ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Replace ~/notes/plan.txt in ~/c.txt with ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Replace the path ~/notes/plan.txt in ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Change ~/notes/plan.txt to ~/b.txt in ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write ~/notes/plan.txt into ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Write ~/notes/plan.txt down in ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Save ~/notes/plan.txt to ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Save ~/notes/plan.txt in ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Format ~/notes/plan.txt into ~/c.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Extend ~/c.txt by ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Complete ~/c.txt from ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit like ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fix it like in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Clean code in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Sort order in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Format ~/notes/plan.txt output for me",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit history of ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Touch points in ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Correct, ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Correct. ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Fine, clear, ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Change, ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Complete ~/notes/plan.txt listing please",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Clean ~/notes/plan.txt printout",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Empty ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Record ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete ~/a.txt, ~/notes/plan.txt excluded",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete ~/a.txt, ~/notes/plan.txt for now stays2",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete everything around ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Remove ~/notes/plan.txt from the index",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Remove ~/notes/plan.txt, locally",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete ~/notes/plan.txt duplicates",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete the lines, ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Delete the todos and ~/notes/plan.txt ones",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Trash talk ~/notes/plan.txt",
    "delete-path", "/home/me/notes/plan.txt", 0)
ASKED("Add ~/repo to ~/.config/safe.txt",
    "write-history", "/home/me/repo", 0)
ASKED("Tag along with ~/repo",
    "write-history", "/home/me/repo", 0)
ASKED("Write bob@example.com into ~/contacts.txt",
    "email-address", "bob@example.com", 0)
ASKED("Write bob@example.com down",
    "email-address", "bob@example.com", 0)
ASKED("Forward-port bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Mail address bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Reply as bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Send the mail from bob@example.com to eve@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Send eve@example.com the address bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Invite eve@example.com, bob@example.com as cc",
    "email-address", "bob@example.com", 0)
ASKED("Add ~/repo to ~/.config/safe.txt",
    "write-history", "/home/me/repo", 0)
ASKED("Tag along with ~/repo",
    "write-history", "/home/me/repo", 0)
ASKED("Commit ~/repo to memory",
    "write-history", "/home/me/repo", 0)
ASKED("Add ~/repo to the list",
    "write-history", "/home/me/repo", 0)
ASKED("Update ~/repo",
    "write-history", "/home/me/repo", 0)
ASKED("Commit the changes in ~/repo",
    "write-history", "/home/me/repo", 1)
ASKED("Commit ~/repo upstream of ~/b",
    "write-history", "/home/me/repo", 0)
ASKED("Write bob@example.com into ~/contacts.txt",
    "email-address", "bob@example.com", 0)
ASKED("Write bob@example.com down",
    "email-address", "bob@example.com", 0)
ASKED("Write bob@example.com",
    "email-address", "bob@example.com", 1)
ASKED("Mail address bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Reply as bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Send the mail from bob@example.com to eve@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Send the mail of bob@example.com to eve@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Send the note about bob@example.com to eve@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Send eve@example.com the address bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Send eve@example.com bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Invite eve@example.com, bob@example.com as cc",
    "email-address", "bob@example.com", 0)
ASKED("Invite eve@example.com, bob@example.com excluded",
    "email-address", "bob@example.com", 0)
ASKED("Forward bob@example.com to eve@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Forward the mail in bob@example.com to eve@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Email the list to bob@example.com in May2",
    "email-address", "bob@example.com", 0)
ASKED("Email bob@example.com myself",
    "email-address", "bob@example.com", 0)
ASKED("Write an email to bob@example.com in ~/draft.txt",
    "email-address", "bob@example.com", 0)
ASKED("Write a reply to bob@example.com as a draft",
    "email-address", "bob@example.com", 0)
ASKED("Write the answer to bob@example.com into ~/draft.txt",
    "email-address", "bob@example.com", 0)
ASKED("Save a mail to bob@example.com",
    "email-address", "bob@example.com", 0)
ASKED("Mail the report to bob@example.com",
    "email-address", "bob@example.com", 1)
ASKED("Update ~/notes/plan.txt and ~/b.txt with the new dates",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Update ~/notes/plan.txt please and thanks",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Update the notes/plan.txt file",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("update PLAN ~/notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit ~/Notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit ~/notes/./plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit ~/notes/../notes/plan.txt",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit ~/notes/plan.txt.",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Edit ~/notes/plan.txt\nRead ~/b.txt",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Edit ~/notes",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Edit ~/notes/",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Edit ~/notes/plan.tx",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Edit ~/notes/plan.txt2",
    "write-path", "/home/me/notes/plan.txt", 0)
ASKED("Update ~/notes/plan.txt with blanks, dots and dashes",
    "write-path", "/home/me/notes/plan.txt", 1)
ASKED("Update ~/notes/plan.txt with the text from ~/b.txt, ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/notes/plan.txt with ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/notes/plan.txt using ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/notes/plan.txt to match ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/notes/plan.txt to reflect the state in ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Write a summary to ~/notes/plan.txt from ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Write a summary to ~/notes/plan.txt and ~/c.txt",
    "write-path", "/home/me/c.txt", 1)
ASKED("Write a summary to ~/notes/plan.txt and use ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Write a summary to ~/notes/plan.txt, using ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Write a summary to ~/notes/plan.txt, ~/c.txt",
    "write-path", "/home/me/c.txt", 1)
ASKED("Add the lines to ~/notes/plan.txt, matching ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Use ~/c.txt, update ~/b.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/b.txt for ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/b.txt, compare ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/b.txt and check ~/c.txt",
    "write-path", "/home/me/c.txt", 0)
ASKED("Update ~/.bashrc",
    "write-path", "/home/me/.bashrc", 0)
ASKED("Update ~/.config/fish/config.fish",
    "write-path", "/home/me/.config/fish/config.fish", 0)
ASKED("Update ~/.git/hooks/pre-commit",
    "write-path", "/home/me/.git/hooks/pre-commit", 0)
ASKED("Update ~/.config/autostart/a.desktop",
    "write-path", "/home/me/.config/autostart/a.desktop", 0)
ASKED("Update ~/.ssh/config",
    "write-path", "/home/me/.ssh/config", 0)
ASKED("Update ~/.local/bin/x",
    "write-path", "/home/me/.local/bin/x", 0)
ASKED("Update ~/proj/Makefile",
    "write-path", "/home/me/proj/Makefile", 0)
ASKED("Update ~/proj/package.json",
    "write-path", "/home/me/proj/package.json", 0)
ASKED("Update ~/proj/.envrc",
    "write-path", "/home/me/proj/.envrc", 0)
ASKED("Update ~/proj/conftest.py",
    "write-path", "/home/me/proj/conftest.py", 0)
ASKED("Update ~/proj/x.sh",
    "write-path", "/home/me/proj/x.sh", 0)
ASKED("Update ~/proj/.vscode/tasks.json",
    "write-path", "/home/me/proj/.vscode/tasks.json", 0)
ASKED("Update ~/proj/Dockerfile",
    "write-path", "/home/me/proj/Dockerfile", 0)
ASKED("Update ~/proj/.github/workflows/a.yml",
    "write-path", "/home/me/proj/.github/workflows/a.yml", 0)
ASKED("Update ~/.npmrc",
    "write-path", "/home/me/.npmrc", 0)
ASKED("Update ~/.gitconfig",
    "write-path", "/home/me/.gitconfig", 0)
ASKED("Update ~/.profile",
    "write-path", "/home/me/.profile", 0)
ASKED("Update ~/.xinitrc",
    "write-path", "/home/me/.xinitrc", 0)
ASKED("Update ~/.vimrc",
    "write-path", "/home/me/.vimrc", 0)
ASKED("Update ~/.emacs",
    "write-path", "/home/me/.emacs", 0)
ASKED("Update ~/.tmux.conf",
    "write-path", "/home/me/.tmux.conf", 0)
ASKED("Update ~/.pythonrc.py",
    "write-path", "/home/me/.pythonrc.py", 0)
ASKED("Update ~/.config/systemd/user/a.service",
    "write-path", "/home/me/.config/systemd/user/a.service", 0)
ASKED("Update ~/proj/Justfile",
    "write-path", "/home/me/proj/Justfile", 0)
ASKED("Update ~/proj/setup.py",
    "write-path", "/home/me/proj/setup.py", 0)
ASKED("Update ~/proj/build.rs",
    "write-path", "/home/me/proj/build.rs", 0)
ASKED("Update ~/proj/CMakeLists.txt",
    "write-path", "/home/me/proj/CMakeLists.txt", 0)
ASKED("Update ~/proj/gradlew",
    "write-path", "/home/me/proj/gradlew", 0)
ASKED("Update ~/proj/a.bat",
    "write-path", "/home/me/proj/a.bat", 0)
ASKED("Update ~/proj/a.desktop",
    "write-path", "/home/me/proj/a.desktop", 0)
ASKED("Update ~/proj/a.service",
    "write-path", "/home/me/proj/a.service", 0)
ASKED("Update ~/proj/crontab",
    "write-path", "/home/me/proj/crontab", 0)
/* clang-format on */
