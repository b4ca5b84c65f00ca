using System.Diagnostics.CodeAnalysis;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Metadata;
using Microsoft.EntityFrameworkCore.Migrations;
using Npgsql.EntityFrameworkCore.PostgreSQL.Metadata;

namespace Tidepool.Data.Tests;

internal sealed class Remark
{
    public int Id { get; set; }

    public required string Text { get; set; }
}

/// <summary>A context whose tables are made by migrations.</summary>
internal sealed class MigratedContext(DbContextOptions<MigratedContext> options) : DbContext(options)
{
    protected override void OnModelCreating(ModelBuilder modelBuilder) => modelBuilder.Entity<Remark>();
}

[DbContext(typeof(MigratedContext))]
[Migration("1_Remarks")]
[SuppressMessage("Performance", "CA1812", Justification = "Found by Entity Framework.")]
internal sealed class Remarks : Migration
{
    protected override void Up(MigrationBuilder migrationBuilder)
    {
        bool isPostgres = migrationBuilder.ActiveProvider!.Contains("Npgsql", StringComparison.Ordinal);
        if (isPostgres)
        {
            migrationBuilder.AlterDatabase().Annotation("Npgsql:Enum:mood", "glad,sad"); // so that the provider reloads its types
        }

        migrationBuilder.CreateTable(
            "Remark",
            table => new
            {
                Id = table.Column<int>(nullable: false)
                    .Annotation("Sqlite:Autoincrement", true)
                    .Annotation("Npgsql:ValueGenerationStrategy", NpgsqlValueGenerationStrategy.IdentityByDefaultColumn),
            },
            constraints: table => table.PrimaryKey("PK_Remark", r => r.Id));
    }
}

[DbContext(typeof(MigratedContext))]
[Migration("2_Texts")]
[SuppressMessage("Performance", "CA1812", Justification = "Found by Entity Framework.")]
internal sealed class Texts : Migration
{
    protected override void Up(MigrationBuilder migrationBuilder) =>
        migrationBuilder.AddColumn<string>("Text", "Remark", nullable: false, defaultValue: string.Empty);
}
